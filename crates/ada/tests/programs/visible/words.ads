with Ada.Text_IO;

package Words is

   procedure Say (Item : String) renames Ada.Text_IO.Put_Line;

end Words;
