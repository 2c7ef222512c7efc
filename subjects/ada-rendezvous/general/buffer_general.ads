--  The buffer by the general scheme: its task stays

with Items; use Items;

package Buffer_General is

   pragma Elaborate_Body;

   procedure Put (X : in Item);

   procedure Get (X : out Item);

end Buffer_General;
