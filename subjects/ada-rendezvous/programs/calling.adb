with Calling_Server;
with Distributor_General;
with Distributor_Hand;
with Distributor_Optimised;
with Distributor_Rendezvous;
with Distributor_Servers;
with Distributor_Tool;
with Distributor_Tool_Optimised;
with Kit;

package body Calling is

   package By_Rendezvous is new Calling_Server ("rendezvous", Distributor_Rendezvous.Run);
   package By_General is new Calling_Server ("general", Distributor_General.Run);
   package By_Optimised is new Calling_Server ("optimised", Distributor_Optimised.Run);
   package By_Servers is new Calling_Server ("servers", Distributor_Servers.Run);
   package By_Tool is new Calling_Server ("tool", Distributor_Tool.Run);
   package By_Tool_Optimised is new Calling_Server ("tool_optimised", Distributor_Tool_Optimised.Run);
   package By_Hand is new Calling_Server ("hand", Distributor_Hand.Run);

   procedure Register is
   begin
      By_Rendezvous.Register;
      By_General.Register;
      By_Optimised.Register;
      By_Servers.Register;
      By_Tool.Register;
      Kit.Register_Absent
        ("calling.tool_general", "frame",
         "antiphon translate keeps the clients: a selector can only requeue to objects that are no deeper than itself"
         & " (RM 9.5.4 (6))");
      By_Tool_Optimised.Register;
      By_Hand.Register;
   end Register;

end Calling;
