with Calling_Server;
with Distributor_General;
with Distributor_Hand;
with Distributor_Optimised;
with Distributor_Rendezvous;
with Distributor_Servers;
with Kit;

package body Calling is

   package By_Rendezvous is new Calling_Server ("rendezvous", Distributor_Rendezvous.Entrance);
   package By_General is new Calling_Server ("general", Distributor_General.Entrance);
   package By_Optimised is new Calling_Server ("optimised", Distributor_Optimised.Entrance);
   package By_Servers is new Calling_Server ("servers", Distributor_Servers.Entrance);
   package By_Hand is new Calling_Server ("hand", Distributor_Hand.Entrance);

   procedure Register is
   begin
      By_Rendezvous.Register;
      By_General.Register;
      By_Optimised.Register;
      By_Servers.Register;
      Kit.Register_Absent
        ("calling.tool", "frame", "antiphon translate does not yet replace servers that call their clients");
      By_Hand.Register;
   end Register;

end Calling;
