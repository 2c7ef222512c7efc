with General_Rendezvous;
with General_Selector;
with Switches;

package body Buffer_General is

   type Alternative is (Put_Entry, Get_Entry);

   type Guards is array (Alternative) of Boolean;

   package Scheme is new General_Rendezvous (In_Parameters => Item, Out_Parameters => Item);

   package Selection is new General_Selector (Scheme, Alternative, Guards);
   use Selection;

   task Buffer;

   procedure Put (X : in Item) is
      Nothing : Item;
   begin
      Selector.Call (Put_Entry) (X, Nothing);
   end Put;

   procedure Get (X : out Item) is
      Nothing : constant Item := 0;
   begin
      Selector.Call (Get_Entry) (Nothing, X);
   end Get;

   task body Buffer is
      Store       : array (0 .. Buffer_Size - 1) of Item;
      Count       : Natural := 0;
      First, Free : Natural := 0;
      X           : Item;
      Chosen      : Alternative;
   begin
      loop
         Selector.Acceptor ((Put_Entry => Count < Buffer_Size, Get_Entry => Count > 0), Chosen);
         case Chosen is
            when Put_Entry =>
               Entries (Put_Entry).Accept_Begin (X);
               Switches.Note;
               Store (Free) := X;
               Entries (Put_Entry).Accept_End (X);
               Free := (Free + 1) mod Buffer_Size;
               Count := Count + 1;
            when Get_Entry =>
               Entries (Get_Entry).Accept_Begin (X);
               Switches.Note;
               X := Store (First);
               Entries (Get_Entry).Accept_End (X);
               First := (First + 1) mod Buffer_Size;
               Count := Count - 1;
         end case;
      end loop;
   end Buffer;

end Buffer_General;
