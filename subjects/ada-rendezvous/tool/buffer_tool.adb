with Switches;

package body Buffer_Tool is

   protected body Buffer is

      entry Put (X : in Items.Item) when Count < Size is
      begin
         Switches.Note;
         Store (Free) := X;
         Free := (Free + 1) mod Size;
         Count := Count + 1;
      end Put;

      entry Get (X : out Items.Item) when Count > 0 is
      begin
         Switches.Note;
         X := Store (First);
         First := (First + 1) mod Size;
         Count := Count - 1;
      end Get;

   end Buffer;

end Buffer_Tool;
