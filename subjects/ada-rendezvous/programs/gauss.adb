with Barrier_General;
with Barrier_Hand;
with Barrier_Optimised;
with Barrier_Rendezvous;
with Barrier_Servers;
with Barrier_Tool;
with Barrier_Tool_General;
with Barrier_Tool_Optimised;
with Gauss_Seidel;

package body Gauss is

   package By_Rendezvous is new Gauss_Seidel
     ("rendezvous", Barrier_Rendezvous.Barrier.Expect, Barrier_Rendezvous.Barrier.Arrive,
      Barrier_Rendezvous.Barrier.Pass);

   package By_General is new Gauss_Seidel
     ("general", Barrier_General.Expect, Barrier_General.Arrive, Barrier_General.Pass);

   package By_Optimised is new Gauss_Seidel
     ("optimised", Barrier_Optimised.Expect, Barrier_Optimised.Arrive, Barrier_Optimised.Pass);

   package By_Servers is new Gauss_Seidel
     ("servers", Barrier_Servers.Barrier.Expect, Barrier_Servers.Barrier.Arrive, Barrier_Servers.Barrier.Pass);

   package By_Tool is new Gauss_Seidel
     ("tool", Barrier_Tool.Barrier.Expect, Barrier_Tool.Barrier.Arrive, Barrier_Tool.Barrier.Pass);

   package By_Tool_General is new Gauss_Seidel
     ("tool_general", Barrier_Tool_General.Barrier.Expect, Barrier_Tool_General.Barrier.Arrive,
      Barrier_Tool_General.Barrier.Pass);

   package By_Tool_Optimised is new Gauss_Seidel
     ("tool_optimised", Barrier_Tool_Optimised.Barrier.Expect, Barrier_Tool_Optimised.Barrier.Arrive,
      Barrier_Tool_Optimised.Barrier.Pass);

   package By_Hand is new Gauss_Seidel
     ("hand", Barrier_Hand.Barrier.Expect, Barrier_Hand.Barrier.Arrive, Barrier_Hand.Barrier.Pass);

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

end Gauss;
