with Callees;      use Callees;
with Source_Files; use Source_Files;

package body Call_Sources is

   --  Parts -------------------------------------------------------------------------------------------------------

   procedure Put_Package_Start (Withs : String; Unit : String; Is_Body : Boolean) is
   begin
      Put (0, "with Kit; use type Kit.Iterations;");
      Put (0, "with Call_Data;");
      if Withs /= "" then
         Put (0, Withs);
      end if;
      Blank;
      Put (0, "package " & (if Is_Body then "body " else "") & Unit & " is");
      Blank;
   end Put_Package_Start;

   procedure Put_Package_End (Unit : String) is
   begin
      Put (0, "end " & Unit & ';');
      Close;
   end Put_Package_End;

   procedure Put_Frame_Declarations (Of_Callees : Callee_List) is
   begin
      for Item of Of_Callees loop
         Put (1, "procedure Frame_" & Name (Item) & " (Count : Kit.Iterations; Sum : out Kit.Checksum);");
      end loop;
      Blank;
   end Put_Frame_Declarations;

   procedure Put_Registration (Test_Name, Control, Test : String) is
   begin
      Put (2, "Kit.Register_Frame");
      Put (2, "  (""" & Test_Name & """,");
      Put (2, "   Call_Controls." & Control & "'Access,");
      Put (2, "   " & Test & "'Access,");
      Put (2, "   Prepare => Call_Data.Restore'Access, Reset => Call_Data.Restore'Access);");
   end Put_Registration;

   procedure Put_Register (Form : String; Of_Callees : Callee_List) is
   begin
      Put (1, "procedure Register is");
      Put (1, "begin");
      for Item of Of_Callees loop
         Put_Registration ("call." & Form & '.' & Words (Item), "Frame_" & Name (Item), "Frame_" & Name (Item));
      end loop;
      Put (1, "end Register;");
      Blank;
   end Put_Register;

   --  Plain packages ----------------------------------------------------------------------------------------------

   procedure Write_Controls is
      Unit    : constant String := "Call_Controls";
      Purpose : constant String := "Control frames of all call tests: the callees' statements in line";
   begin
      Open (Unit, Is_Body => False, Purpose => Purpose);
      Put (0, "with Kit;");
      Blank;
      Put (0, "package " & Unit & " is");
      Blank;
      Put_Frame_Declarations (Of_Plain_Packages);
      Put_Package_End (Unit);

      Open (Unit, Is_Body => True, Purpose => Purpose);
      Put_Package_Start ("", Unit, Is_Body => True);
      for Item of Of_Plain_Packages loop
         Put_Control_Frame (Item);
      end loop;
      Put_Package_End (Unit);
   end Write_Controls;

   procedure Write_Targets is
      Unit    : constant String := "Call_Targets";
      Purpose : constant String := "Callees of interpackage calls";
   begin
      Open (Unit, Is_Body => False, Purpose => Purpose);
      Put (0, "with Call_Data;");
      Blank;
      Put (0, "package " & Unit & " is");
      Blank;
      for Item of Of_Plain_Packages loop
         Put_Declaration (1, Item);
      end loop;
      Blank;
      Put_Package_End (Unit);

      Open (Unit, Is_Body => True, Purpose => Purpose);
      Put (0, "package body " & Unit & " is");
      Blank;
      for Item of Of_Plain_Packages loop
         Put_Body (1, Item);
      end loop;
      Put_Package_End (Unit);
   end Write_Targets;

   procedure Write_Inter is
      Unit : constant String := "Calls_Inter";
   begin
      Write_Registering_Spec (Unit, "Calls between packages");
      Open (Unit, Is_Body => True, Purpose => "Test frames of calls between packages");
      Put_Package_Start ("with Call_Controls; with Call_Targets;", Unit, Is_Body => True);
      for Item of Of_Plain_Packages loop
         Put_Test_Frame ("Call_Targets.", Item);
      end loop;
      Put_Register ("inter", Of_Plain_Packages);
      Put_Package_End (Unit);
   end Write_Inter;

   procedure Put_Kept_Apart (Item : Callee) is
      --  A callee that stays a call although the compiler sees its body
   begin
      Put_Declaration (1, Item);
      Put (1, "pragma No_Inline (Pass_" & Name (Item) & ");");
      Put (1, "pragma Machine_Attribute (Pass_" & Name (Item) & ", ""noipa"");");
      Blank;
   end Put_Kept_Apart;

   procedure Write_Intra is
      Unit : constant String := "Calls_Intra";
   begin
      Write_Registering_Spec (Unit, "Calls within a package");
      Open (Unit, Is_Body => True, Purpose => "Callees and test frames of calls within a package");
      Put_Package_Start ("with Call_Controls;", Unit, Is_Body => True);
      for Item of Of_Plain_Packages loop
         Put_Kept_Apart (Item);
         Put_Body (1, Item);
         Put_Test_Frame ("", Item);
      end loop;
      Put_Register ("intra", Of_Plain_Packages);
      Put_Package_End (Unit);
   end Write_Intra;

   procedure Write_Inline is
      Unit : constant String := "Calls_Inline";
   begin
      Write_Registering_Spec (Unit, "Calls within a package, with pragma Inline");
      Open (Unit, Is_Body => True, Purpose => "Callees with pragma Inline, and their test frames");
      Put_Package_Start ("with Call_Controls;", Unit, Is_Body => True);
      for Item of Of_Plain_Packages loop
         Put_Declaration (1, Item);
         Put (1, "pragma Inline (Pass_" & Name (Item) & ");");
         Blank;
         Put_Body (1, Item);
         Put_Test_Frame ("", Item);
      end loop;
      Put_Register ("inline", Of_Plain_Packages);
      Put_Package_End (Unit);
   end Write_Inline;

   --  Generic packages --------------------------------------------------------------------------------------------

   function Instance_Name (Item : Known_Type) return String
   is (case Item is when Of_Integer => "Integers", when Of_Enumeration => "Colours");

   function Actual_Cells (Item : Known_Type) return String
   is (case Item is when Of_Integer => "Integer_Cells", when Of_Enumeration => "Colour_Cells");

   procedure Put_Generic_Start (Unit, Withs : String) is
   begin
      Put (0, "with Call_Cells;" & Withs);
      Blank;
      Put (0, "generic");
      Put (1, "with package Cells is new Call_Cells (<>);");
      Put (0, "package " & Unit & " is");
      Blank;
   end Put_Generic_Start;

   procedure Write_Instances (Unit : String) is
      --  Library units of their own
   begin
      for Item in Known_Type loop
         Open (Unit & '_' & Instance_Name (Item), Is_Body => False, Purpose => "An instance");
         Put (0, "with Call_Data;");
         Put (0, "with " & Unit & ';');
         Blank;
         Put
           (0,
            "package " & Unit & '_' & Instance_Name (Item)
            & " is new " & Unit & " (Call_Data." & Actual_Cells (Item) & ");");
         Close;
      end loop;
   end Write_Instances;

   procedure Write_Generic_Targets is
      Unit    : constant String := "Generic_Targets";
      Purpose : constant String := "Generic callees of calls between packages";
   begin
      Open (Unit, Is_Body => False, Purpose => Purpose);
      Put_Generic_Start (Unit, " with Call_Data;");
      for Item of Of_Generics loop
         Put_Declaration (1, Item);
      end loop;
      Blank;
      Put_Package_End (Unit);

      Open (Unit, Is_Body => True, Purpose => Purpose);
      Put (0, "package body " & Unit & " is");
      Blank;
      for Item of Of_Generics loop
         Put_Body (1, Item);
      end loop;
      Put_Package_End (Unit);
      Write_Instances (Unit);
   end Write_Generic_Targets;

   procedure Write_Generic_Callers is
      --  The generic package of frames that calls an instance of the targets from another package

      Unit    : constant String := "Generic_Callers";
      Purpose : constant String := "Test frames of calls into an instance of a generic package";
   begin
      Open (Unit, Is_Body => False, Purpose => Purpose);
      Put (0, "with Call_Cells;");
      Put (0, "with Generic_Targets;");
      Put (0, "with Kit;");
      Blank;
      Put (0, "generic");
      Put (1, "with package Cells is new Call_Cells (<>);");
      Put (1, "with package Targets is new Generic_Targets (Cells);");
      Put (0, "package " & Unit & " is");
      Blank;
      Put_Frame_Declarations (Of_Generics);
      Put_Package_End (Unit);

      Open (Unit, Is_Body => True, Purpose => Purpose);
      Put_Package_Start ("", Unit, Is_Body => True);
      for Item of Of_Generics loop
         Put_Test_Frame ("Targets.", Item);
      end loop;
      Put_Package_End (Unit);

      for Item in Known_Type loop
         Open (Unit & '_' & Instance_Name (Item), Is_Body => False, Purpose => "An instance");
         Put (0, "with Call_Data;");
         Put (0, "with Generic_Callers;");
         Put (0, "with Generic_Targets_" & Instance_Name (Item) & ';');
         Blank;
         Put (0, "package " & Unit & '_' & Instance_Name (Item) & " is new Generic_Callers");
         Put (0, "  (Call_Data." & Actual_Cells (Item) & ", Generic_Targets_" & Instance_Name (Item) & ");");
         Close;
      end loop;
   end Write_Generic_Callers;

   procedure Write_Generic_Package is
      Unit    : constant String := "Generic_Calls";
      Purpose : constant String := "Callees and test frames of calls within a generic package";
   begin
      Open (Unit, Is_Body => False, Purpose => Purpose);
      Put_Generic_Start (Unit, " with Kit;");
      Put_Frame_Declarations (Of_Generics);
      Put_Package_End (Unit);

      Open (Unit, Is_Body => True, Purpose => Purpose);
      Put_Package_Start ("", Unit, Is_Body => True);
      for Item of Of_Generics loop
         Put_Kept_Apart (Item);
         Put_Body (1, Item);
         Put_Test_Frame ("", Item);
      end loop;
      Put_Package_End (Unit);
      Write_Instances (Unit);
   end Write_Generic_Package;

   procedure Write_Generic_Registration (Unit, Form, Instances : String) is
   begin
      Write_Registering_Spec (Unit, "Registers the tests of form " & Form);
      Open (Unit, Is_Body => True, Purpose => "Registers the tests of form " & Form);
      Put (0, "with Kit;");
      Put (0, "with Call_Controls; with Call_Data;");
      Put (0, "with " & Instances & "_Integers; with " & Instances & "_Colours;");
      Blank;
      Put (0, "package body " & Unit & " is");
      Blank;
      Put (1, "procedure Register is");
      Put (1, "begin");
      for Item in Known_Type loop
         for Formal of Of_Generics loop
            --  What does not depend on the formal type is the same in both instances, and registered once
            if Formal.Takes = Scalars or else Item = Known_Type'First then
               Put_Registration
                 ("call." & Form & '.' & Words (Known (Formal, Item)),
                  "Frame_" & Name (Known (Formal, Item)),
                  Instances & '_' & Instance_Name (Item) & ".Frame_" & Name (Formal));
            end if;
         end loop;
      end loop;
      Put (1, "end Register;");
      Blank;
      Put_Package_End (Unit);
   end Write_Generic_Registration;

   procedure Write is
   begin
      Write_Controls;
      Write_Targets;
      Write_Inter;
      Write_Intra;
      Write_Inline;
      Write_Generic_Targets;
      Write_Generic_Callers;
      Write_Generic_Registration ("Calls_Generic_Inter", "generic_inter", "Generic_Callers");
      Write_Generic_Package;
      Write_Generic_Registration ("Calls_Generic_Intra", "generic_intra", "Generic_Calls");
   end Write;

end Call_Sources;
