--  The buffer by the general scheme, optimised

with Items; use Items;

package Buffer_Optimised is

   pragma Elaborate_Body;

   procedure Put (X : in Item);

   procedure Get (X : out Item);

end Buffer_Optimised;
