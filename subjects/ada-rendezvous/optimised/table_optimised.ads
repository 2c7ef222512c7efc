--  The table by the general scheme, optimised. Requeues and the nested accepts, which have no body, are merged too:
--  they happen when the table goes on to its next call

with Places; use Places;

package Table_Optimised is

   pragma Elaborate_Body;

   procedure Lay (Number : in Place);

   procedure Take (Who : in Place);

   procedure Put_Back (Who : in Place);

end Table_Optimised;
