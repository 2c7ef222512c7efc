with Switches;

package body Buffer_Hand is

   protected body Buffer is

      entry Put (X : in Item) when Count < Buffer_Size is
      begin
         Switches.Note;
         Store (Free) := X;
         Free := (Free + 1) mod Buffer_Size;
         Count := Count + 1;
      end Put;

      entry Get (X : out Item) when Count > 0 is
      begin
         Switches.Note;
         X := Store (First);
         First := (First + 1) mod Buffer_Size;
         Count := Count - 1;
      end Get;

   end Buffer;

end Buffer_Hand;
