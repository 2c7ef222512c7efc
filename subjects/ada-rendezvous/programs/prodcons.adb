with Buffer_General;
with Buffer_Hand;
with Buffer_Optimised;
with Buffer_Rendezvous;
with Buffer_Servers;
with Buffer_Tool;
with Buffer_Tool_General;
with Buffer_Tool_Optimised;
with Producer_Consumer;

package body Prodcons is

   package By_Rendezvous is new Producer_Consumer
     ("rendezvous", Buffer_Rendezvous.Buffer.Put, Buffer_Rendezvous.Buffer.Get);

   package By_General is new Producer_Consumer
     ("general", Buffer_General.Put, Buffer_General.Get);

   package By_Optimised is new Producer_Consumer
     ("optimised", Buffer_Optimised.Put, Buffer_Optimised.Get);

   package By_Servers is new Producer_Consumer
     ("servers", Buffer_Servers.Buffer.Put, Buffer_Servers.Buffer.Get);

   package By_Tool is new Producer_Consumer
     ("tool", Buffer_Tool.Buffer.Put, Buffer_Tool.Buffer.Get);

   package By_Tool_General is new Producer_Consumer
     ("tool_general", Buffer_Tool_General.Buffer.Put, Buffer_Tool_General.Buffer.Get);

   package By_Tool_Optimised is new Producer_Consumer
     ("tool_optimised", Buffer_Tool_Optimised.Buffer.Put, Buffer_Tool_Optimised.Buffer.Get);

   package By_Hand is new Producer_Consumer
     ("hand", Buffer_Hand.Buffer.Put, Buffer_Hand.Buffer.Get);

   procedure Register is
   begin
      By_Rendezvous.Tests.Register;
      By_General.Tests.Register;
      By_Optimised.Tests.Register;
      By_Servers.Tests.Register;
      By_Tool.Tests.Register;
      By_Tool_General.Tests.Register;
      By_Tool_Optimised.Tests.Register;
      By_Hand.Tests.Register;
   end Register;

end Prodcons;
