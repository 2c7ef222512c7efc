with Merged_Rendezvous;
with Switches;

package body Buffer_Optimised is

   type Alternative is (Put_Entry, Get_Entry);

   type Alternatives is array (Alternative) of Boolean;

   package Scheme is new Merged_Rendezvous
     (Item, Item, Alternative, Alternatives, Without_Body => (others => False));
   use Scheme;

   task Buffer;

   procedure Put (X : in Item) is
      Nothing : Item;
   begin
      Calls.Call (Put_Entry) (X, Nothing);
   end Put;

   procedure Get (X : out Item) is
      Nothing : constant Item := 0;
   begin
      Calls.Call (Get_Entry) (Nothing, X);
   end Get;

   task body Buffer is
      Store       : array (0 .. Buffer_Size - 1) of Item;
      Count       : Natural := 0;
      First, Free : Natural := 0;
      X           : Item    := 0;
      Result      : Item    := 0;
      Chosen      : Alternative;
   begin
      loop
         Calls.Next (Result, (Put_Entry => Count < Buffer_Size, Get_Entry => Count > 0), Chosen, X);
         Switches.Note;
         case Chosen is
            when Put_Entry =>
               Store (Free) := X;
               Free := (Free + 1) mod Buffer_Size;
               Count := Count + 1;
            when Get_Entry =>
               Result := Store (First);
               First := (First + 1) mod Buffer_Size;
               Count := Count - 1;
         end case;
      end loop;
   end Buffer;

end Buffer_Optimised;
