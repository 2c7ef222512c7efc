with Dining_Philosophers;
with Table_General;
with Table_Hand;
with Table_Optimised;
with Table_Rendezvous;
with Table_Servers;
with Table_Tool;
with Table_Tool_General;
with Table_Tool_Optimised;

package body Dining is

   package By_Rendezvous is new Dining_Philosophers
     ("rendezvous", Table_Rendezvous.Table.Lay, Table_Rendezvous.Table.Take, Table_Rendezvous.Table.Put_Back);

   package By_General is new Dining_Philosophers
     ("general", Table_General.Lay, Table_General.Take, Table_General.Put_Back);

   package By_Optimised is new Dining_Philosophers
     ("optimised", Table_Optimised.Lay, Table_Optimised.Take, Table_Optimised.Put_Back);

   package By_Servers is new Dining_Philosophers
     ("servers", Table_Servers.Table.Lay, Table_Servers.Table.Take, Table_Servers.Table.Put_Back);

   package By_Tool is new Dining_Philosophers
     ("tool", Table_Tool.Table.Lay, Table_Tool.Table.Take, Table_Tool.Table.Put_Back);

   package By_Tool_General is new Dining_Philosophers
     ("tool_general", Table_Tool_General.Table.Lay, Table_Tool_General.Table.Take, Table_Tool_General.Table.Put_Back);

   package By_Tool_Optimised is new Dining_Philosophers
     ("tool_optimised", Table_Tool_Optimised.Table.Lay, Table_Tool_Optimised.Table.Take,
      Table_Tool_Optimised.Table.Put_Back);

   package By_Hand is new Dining_Philosophers
     ("hand", Table_Hand.Lay, Table_Hand.Take, Table_Hand.Put_Back);

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

end Dining;
