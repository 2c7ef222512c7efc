with Source_Files; use Source_Files;

package body Callees is

   --  The lists ---------------------------------------------------------------------------------------------------

   Counts      : constant array (1 .. 3) of Positive := (1, 10, 100);
   Sizes_Bytes : constant array (1 .. 4) of Positive := (8, 64, 512, 4096);

   function All_Scalars (First, Last : Item_Type) return Callee_List is
      Result : Callee_List (1 .. 3 * 3 * (Item_Type'Pos (Last) - Item_Type'Pos (First) + 1));
      Place  : Positive := 1;
   begin
      for Item in First .. Last loop
         for Mode in Passing loop
            for Count of Counts loop
               Result (Place) := (Scalars, Mode, Item, Count);
               Place := Place + 1;
            end loop;
         end loop;
      end loop;
      return Result;
   end All_Scalars;

   function All_Composites return Callee_List is
      Result : Callee_List (1 .. 3 * 3 * 4);
      Place  : Positive := 1;
   begin
      for Its in Shape loop
         for Mode in Passing loop
            for Bytes of Sizes_Bytes loop
               Result (Place) := (Composite, Mode, Its, Bytes);
               Place := Place + 1;
            end loop;
         end loop;
      end loop;
      return Result;
   end All_Composites;

   None : constant Callee := (Takes => Nothing);

   function Of_Plain_Packages return Callee_List
   is (None & All_Scalars (Of_Integer, Of_Enumeration) & All_Composites);

   function Of_Generics return Callee_List
   is (None & All_Scalars (Of_Formal, Of_Formal) & All_Composites);

   function Known (Formal : Callee; Item : Known_Type) return Callee
   is (case Formal.Takes is
         when Scalars => (Scalars, Formal.Mode, Item, Formal.Count),
         when others  => Formal);

   --  Names -------------------------------------------------------------------------------------------------------

   function Stem (Item : Item_Type) return String
   is (case Item is when Of_Integer => "Integer_", when Of_Enumeration => "Enumeration_", when Of_Formal => "");

   function Shape_Name (Its : Shape) return String
   is (case Its is
         when Of_Array => "Array", when Of_Record => "Record", when Of_Unconstrained => "Unconstrained");

   function Name (Of_Callee : Callee) return String
   is (case Of_Callee.Takes is
         when Nothing   => "None",
         when Scalars   =>
           Stem (Of_Callee.Item) & Mode_Name (Of_Callee.Mode) & '_' & Numeral (Of_Callee.Count),
         when Composite =>
           Shape_Name (Of_Callee.Its) & '_' & Mode_Name (Of_Callee.Mode) & '_' & Numeral (Of_Callee.Bytes));

   function Item_Words (Item : Item_Type) return String
   is (case Item is when Of_Integer => "integer.", when Of_Enumeration => "enumeration.", when Of_Formal => "");

   function Shape_Words (Its : Shape) return String
   is (case Its is
         when Of_Array => "array.", when Of_Record => "record.", when Of_Unconstrained => "unconstrained.");

   function Words (Of_Callee : Callee) return String
   is (case Of_Callee.Takes is
         when Nothing   => "none",
         when Scalars   =>
           Item_Words (Of_Callee.Item) & Mode_Words (Of_Callee.Mode) & '.' & Numeral (Of_Callee.Count),
         when Composite =>
           Shape_Words (Of_Callee.Its) & Mode_Words (Of_Callee.Mode) & '.' & Numeral (Of_Callee.Bytes));

   --  Types and variables -----------------------------------------------------------------------------------------

   function Item_Text (Item : Item_Type) return String
   is (case Item is
         when Of_Integer => "Integer", when Of_Enumeration => "Call_Data.Colour", when Of_Formal => "Cells.Item");

   function Cells (Item : Item_Type) return String
   is (case Item is
         when Of_Integer     => "Call_Data.Integer_Cells",
         when Of_Enumeration => "Call_Data.Colour_Cells",
         when Of_Formal      => "Cells");

   function Type_Text (Of_Callee : Callee) return String
   is (if Of_Callee.Takes = Scalars then Item_Text (Of_Callee.Item)
       elsif Of_Callee.Its = Of_Unconstrained then "Call_Data.Unconstrained"
       else "Call_Data." & Shape_Name (Of_Callee.Its) & '_' & Numeral (Of_Callee.Bytes));

   function Variable (Of_Callee : Callee) return String
   is ("Call_Data.Actual_" & Shape_Name (Of_Callee.Its) & '_' & Numeral (Of_Callee.Bytes));
   --  The actual parameter of a composite callee

   function Touched_Component (Of_Callee : Callee; In_Place : Boolean) return String
   is (if Of_Callee.Its = Of_Record then (if In_Place then Variable (Of_Callee) else "P") & ".First"
       elsif In_Place then Variable (Of_Callee) & " (1)"
       elsif Of_Callee.Its = Of_Array then "P (1)"
       else "P (P'First)");

   --  Statements --------------------------------------------------------------------------------------------------

   procedure Put_Statement (Indent : Natural; Mode : Passing; Object, Kept : String) is
   begin
      case Mode is
         when By_In =>
            Put (Indent, Kept & " := " & Object & ';');
         when By_Out =>
            Put (Indent, Object & " := " & Kept & ';');
         when By_In_Out =>
            Put (Indent, "Was := " & Object & ';');
            Put (Indent, Object & " := " & Kept & ';');
            Put (Indent, Kept & " := Was;");
      end case;
   end Put_Statement;

   procedure Put_Statements (Indent : Natural; Of_Callee : Callee; In_Place : Boolean) is
   begin
      case Of_Callee.Takes is
         when Nothing =>
            if not In_Place then
               Put (Indent, "null;");
            end if;
         when Scalars =>
            for I in 1 .. Of_Callee.Count loop
               Put_Statement
                 (Indent, Of_Callee.Mode,
                  Object => (if In_Place then Cells (Of_Callee.Item) & ".Actual (" & Numeral (I) & ')'
                             else 'P' & Numeral (I)),
                  Kept   => Cells (Of_Callee.Item) & ".Kept (" & Numeral (I) & ')');
            end loop;
         when Composite =>
            Put_Statement
              (Indent, Of_Callee.Mode,
               Object => Touched_Component (Of_Callee, In_Place),
               Kept   => Cells (Of_Integer) & ".Kept (1)");
      end case;
   end Put_Statements;

   procedure Put_Spare_Variable (Indent : Natural; Of_Callee : Callee) is
      --  For the exchange
   begin
      if Of_Callee.Takes /= Nothing and then Of_Callee.Mode = By_In_Out then
         Put
           (Indent,
            "Was : "
            & (if Of_Callee.Takes = Scalars then Item_Text (Of_Callee.Item) else Item_Text (Of_Integer)) & ';');
      end if;
   end Put_Spare_Variable;

   --  Subprograms -------------------------------------------------------------------------------------------------

   procedure Put_Profile (Indent : Natural; Of_Callee : Callee; Ending : String) is
      Start : constant String := "procedure Pass_" & Name (Of_Callee);
   begin
      case Of_Callee.Takes is
         when Nothing =>
            Put (Indent, Start & Ending);
         when Scalars =>
            Put_List
              (Indent, Start & " (", "P", "",
               " : " & Mode_Text (Of_Callee.Mode) & ' ' & Type_Text (Of_Callee) & ')' & Ending, Of_Callee.Count);
         when Composite =>
            Put
              (Indent,
               Start & " (P : " & Mode_Text (Of_Callee.Mode) & ' ' & Type_Text (Of_Callee) & ')' & Ending);
      end case;
   end Put_Profile;

   procedure Put_Declaration (Indent : Natural; Of_Callee : Callee) is
   begin
      Put_Profile (Indent, Of_Callee, ";");
   end Put_Declaration;

   procedure Put_Body (Indent : Natural; Of_Callee : Callee) is
   begin
      Put_Profile (Indent, Of_Callee, " is");
      Put_Spare_Variable (Indent + 1, Of_Callee);
      Put (Indent, "begin");
      Put_Statements (Indent + 1, Of_Callee, In_Place => False);
      Put (Indent, "end Pass_" & Name (Of_Callee) & ';');
      Blank;
   end Put_Body;

   procedure Put_Call (Indent : Natural; Package_Prefix : String; Of_Callee : Callee) is
      Start : constant String := Package_Prefix & "Pass_" & Name (Of_Callee);
   begin
      case Of_Callee.Takes is
         when Nothing =>
            Put (Indent, Start & ';');
         when Scalars =>
            Put_List (Indent, Start & " (", Cells (Of_Callee.Item) & ".Actual (", ")", ");", Of_Callee.Count);
         when Composite =>
            Put (Indent, Start & " (" & Variable (Of_Callee) & ");");
      end case;
   end Put_Call;

   --  Frames ------------------------------------------------------------------------------------------------------

   procedure Put_Frame_Start (Of_Callee : Callee; Needs_Spare : Boolean) is
   begin
      Put (1, "procedure Frame_" & Name (Of_Callee) & " (Count : Kit.Iterations; Sum : out Kit.Checksum) is");
      Put (2, "Index : Kit.Iterations := 0;");
      if Needs_Spare then
         Put_Spare_Variable (2, Of_Callee);
      end if;
      Put (1, "begin");
      Put (2, "while Index < Count loop");
   end Put_Frame_Start;

   procedure Put_Frame_End (Of_Callee : Callee) is
   begin
      Put (3, "Kit.Increment (Index);");
      Put (2, "end loop;");
      Put (2, "Sum := Call_Data.Digest (Index);");
      Put (1, "end Frame_" & Name (Of_Callee) & ';');
      Blank;
   end Put_Frame_End;

   procedure Put_Control_Frame (Of_Callee : Callee) is
   begin
      Put_Frame_Start (Of_Callee, Needs_Spare => True);
      Put_Statements (3, Of_Callee, In_Place => True);
      Put_Frame_End (Of_Callee);
   end Put_Control_Frame;

   procedure Put_Test_Frame (Package_Prefix : String; Of_Callee : Callee) is
   begin
      Put_Frame_Start (Of_Callee, Needs_Spare => False);
      Put_Call (3, Package_Prefix, Of_Callee);
      Put_Frame_End (Of_Callee);
   end Put_Test_Frame;

end Callees;
