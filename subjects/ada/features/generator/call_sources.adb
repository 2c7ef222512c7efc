with Callees;      use Callees;
with Source_Files; use Source_Files;

package body Call_Sources is

   --  Parts -------------------------------------------------------------------------------------------------------

   For_Frames : constant String := "with Kit; use type Kit.Iterations;" & ASCII.LF & "with Call_Data;";
   --  What the bodies of packages with frames need

   For_Cells : constant String := "   with package Cells is new Call_Cells (<>);";
   --  The formal package of all generic ones

   procedure Put_Frame_Declarations (Of_Callees : Callee_List) is
   begin
      for Item of Of_Callees loop
         Put (1, "procedure Frame_" & Name (Item) & " (Count : Kit.Iterations; Sum : out Kit.Checksum);");
      end loop;
      Blank;
   end Put_Frame_Declarations;

   procedure Put_Test_Frames (Package_Prefix : String; Of_Callees : Callee_List) is
   begin
      for Item of Of_Callees loop
         Put_Test_Frame (Package_Prefix, Item);
      end loop;
   end Put_Test_Frames;

   procedure Put_Registration (Test_Name, Control, Test : String) is
   begin
      Put (2, "Kit.Register_Frame");
      Put (2, "  (""" & Test_Name & """,");
      Put (2, "   Call_Controls." & Control & "'Access,");
      Put (2, "   " & Test & "'Access,");
      Put (2, "   Prepare => Call_Data.Restore'Access, Reset => Call_Data.Restore'Access);");
   end Put_Registration;

   procedure Put_Register (Form : String) is
      --  Of the frames in the same package
   begin
      Put (1, "procedure Register is");
      Put (1, "begin");
      for Item of Of_Plain_Packages loop
         Put_Registration ("call." & Form & '.' & Words (Item), "Frame_" & Name (Item), "Frame_" & Name (Item));
      end loop;
      Put (1, "end Register;");
      Blank;
   end Put_Register;

   --  Callees in a package of their own ---------------------------------------------------------------------------

   procedure Write_Callees (Unit, Purpose, Context, Formals : String; All_Of_Them : Callee_List) is
   begin
      Open_Package (Unit, Is_Body => False, Purpose => Purpose, Context => Context, Formals => Formals);
      for Item of All_Of_Them loop
         Put_Declaration (1, Item);
      end loop;
      Blank;
      Close_Package (Unit);

      Open_Package (Unit, Is_Body => True, Purpose => Purpose);
      for Item of All_Of_Them loop
         Put_Body (1, Item);
      end loop;
      Close_Package (Unit);
   end Write_Callees;

   --  Callees beside their frames ---------------------------------------------------------------------------------

   type Treatment is (Apart, Inlined);
   --  Apart: a callee stays a call although the compiler sees its body

   procedure Put_Callees_And_Frames (Of_Callees : Callee_List; How : Treatment) is
   begin
      for Item of Of_Callees loop
         Put_Declaration (1, Item);
         case How is
            when Apart =>
               Put (1, "pragma No_Inline (Pass_" & Name (Item) & ");");
               Put (1, "pragma Machine_Attribute (Pass_" & Name (Item) & ", ""noipa"");");
            when Inlined =>
               Put (1, "pragma Inline (Pass_" & Name (Item) & ");");
         end case;
         Blank;
         Put_Body (1, Item);
         Put_Test_Frame ("", Item);
      end loop;
   end Put_Callees_And_Frames;

   procedure Write_Within (Unit, Form, Calls, Purpose : String; How : Treatment) is
      --  Callees, frames and registration in one package
   begin
      Write_Registering_Spec (Unit, Calls);
      Open_Package
        (Unit, Is_Body => True, Purpose => Purpose, Context => For_Frames & ASCII.LF & "with Call_Controls;");
      Put_Callees_And_Frames (Of_Plain_Packages, How);
      Put_Register (Form);
      Close_Package (Unit);
   end Write_Within;

   --  Plain packages ----------------------------------------------------------------------------------------------

   procedure Write_Controls is
      Unit    : constant String := "Call_Controls";
      Purpose : constant String := "Control frames of all call tests: the callees' statements in line";
   begin
      Open_Package (Unit, Is_Body => False, Purpose => Purpose, Context => "with Kit;");
      Put_Frame_Declarations (Of_Plain_Packages);
      Close_Package (Unit);

      Open_Package (Unit, Is_Body => True, Purpose => Purpose, Context => For_Frames);
      for Item of Of_Plain_Packages loop
         Put_Control_Frame (Item);
      end loop;
      Close_Package (Unit);
   end Write_Controls;

   procedure Write_Inter is
      Unit    : constant String := "Calls_Inter";
      Targets : constant String := "Call_Targets";
   begin
      Write_Callees (Targets, "Callees of interpackage calls", "with Call_Data;", "", Of_Plain_Packages);
      Write_Registering_Spec (Unit, "Calls between packages");
      Open_Package
        (Unit, Is_Body => True, Purpose => "Test frames of calls between packages",
         Context => For_Frames & ASCII.LF & "with Call_Controls; with " & Targets & ';');
      Put_Test_Frames (Targets & '.', Of_Plain_Packages);
      Put_Register ("inter");
      Close_Package (Unit);
   end Write_Inter;

   --  Generic packages --------------------------------------------------------------------------------------------

   function Instance_Name (Item : Known_Type) return String
   is (case Item is when Of_Integer => "Integers", when Of_Enumeration => "Colours");

   function Actual_Cells (Item : Known_Type) return String
   is ("Call_Data."
       & (case Item is when Of_Integer => "Integer_Cells", when Of_Enumeration => "Colour_Cells"));

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
            "package " & Unit & '_' & Instance_Name (Item) & " is new " & Unit & " (" & Actual_Cells (Item) & ");");
         Close;
      end loop;
   end Write_Instances;

   procedure Write_Generic_Targets is
      Unit : constant String := "Generic_Targets";
   begin
      Write_Callees
        (Unit, "Generic callees of calls between packages",
         Context     => "with Call_Cells; with Call_Data;",
         Formals     => For_Cells,
         All_Of_Them => Of_Generics);
      Write_Instances (Unit);
   end Write_Generic_Targets;

   procedure Write_Caller_Instances (Unit : String) is
   begin
      for Item in Known_Type loop
         Open (Unit & '_' & Instance_Name (Item), Is_Body => False, Purpose => "An instance");
         Put (0, "with Call_Data;");
         Put (0, "with " & Unit & ';');
         Put (0, "with Generic_Targets_" & Instance_Name (Item) & ';');
         Blank;
         Put (0, "package " & Unit & '_' & Instance_Name (Item) & " is new " & Unit);
         Put (0, "  (" & Actual_Cells (Item) & ", Generic_Targets_" & Instance_Name (Item) & ");");
         Close;
      end loop;
   end Write_Caller_Instances;

   procedure Write_Generic_Callers is
      --  The generic package of frames that calls an instance of the targets from another package

      Unit    : constant String := "Generic_Callers";
      Purpose : constant String := "Test frames of calls into an instance of a generic package";
   begin
      Open_Package
        (Unit, Is_Body => False, Purpose => Purpose,
         Context => "with Call_Cells;" & ASCII.LF & "with Generic_Targets;" & ASCII.LF & "with Kit;",
         Formals => For_Cells & ASCII.LF & "   with package Targets is new Generic_Targets (Cells);");
      Put_Frame_Declarations (Of_Generics);
      Close_Package (Unit);

      Open_Package (Unit, Is_Body => True, Purpose => Purpose, Context => For_Frames);
      Put_Test_Frames ("Targets.", Of_Generics);
      Close_Package (Unit);

      Write_Caller_Instances (Unit);
   end Write_Generic_Callers;

   procedure Write_Generic_Package is
      Unit    : constant String := "Generic_Calls";
      Purpose : constant String := "Callees and test frames of calls within a generic package";
   begin
      Open_Package
        (Unit, Is_Body => False, Purpose => Purpose, Context => "with Call_Cells; with Kit;", Formals => For_Cells);
      Put_Frame_Declarations (Of_Generics);
      Close_Package (Unit);

      Open_Package (Unit, Is_Body => True, Purpose => Purpose, Context => For_Frames);
      Put_Callees_And_Frames (Of_Generics, Apart);
      Close_Package (Unit);

      Write_Instances (Unit);
   end Write_Generic_Package;

   procedure Write_Generic_Registration (Unit, Form, Instances : String) is
      Purpose : constant String := "Registers the tests of form " & Form;
   begin
      Write_Registering_Spec (Unit, Purpose);
      Open_Package
        (Unit, Is_Body => True, Purpose => Purpose,
         Context =>
           "with Kit;" & ASCII.LF
           & "with Call_Controls; with Call_Data;" & ASCII.LF
           & "with " & Instances & "_Integers; with " & Instances & "_Colours;");
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
      Close_Package (Unit);
   end Write_Generic_Registration;

   procedure Write is
   begin
      Write_Controls;
      Write_Inter;
      Write_Within
        ("Calls_Intra", "intra", "Calls within a package",
         "Callees and test frames of calls within a package", Apart);
      Write_Within
        ("Calls_Inline", "inline", "Calls within a package, with pragma Inline",
         "Callees with pragma Inline, and their test frames", Inlined);
      Write_Generic_Targets;
      Write_Generic_Callers;
      Write_Generic_Registration ("Calls_Generic_Inter", "generic_inter", "Generic_Callers");
      Write_Generic_Package;
      Write_Generic_Registration ("Calls_Generic_Intra", "generic_intra", "Generic_Calls");
   end Write;

end Call_Sources;
