with Source_Files; use Source_Files;

package body Allocation_Sources is

   type Sizes is array (Positive range <>) of Positive;

   Counts      : constant Sizes := (1, 10, 100);
   Local_Sizes : constant Sizes := (4, 64, 1024, 16384);
   New_Sizes   : constant Sizes := (4, 16, 64, 256, 1024, 4096, 16384, 65536);
   Freed_Sizes : constant Sizes := (4, 64, 1024, 16384, 65536);

   type Composite is (An_Array, A_Record, A_String);

   function Name (Kind : Composite) return String
   is (case Kind is when An_Array => "Array", when A_Record => "Record", when A_String => "String");

   function Words (Kind : Composite) return String
   is (case Kind is when An_Array => "array", when A_Record => "record", when A_String => "string");

   type Scalar is (An_Integer, An_Enumeration);

   function Name (Kind : Scalar) return String
   is (case Kind is when An_Integer => "Integer", when An_Enumeration => "Enumeration");

   function Words (Kind : Scalar) return String
   is (case Kind is when An_Integer => "integer", when An_Enumeration => "enumeration");

   function Type_Text (Kind : Scalar) return String
   is (case Kind is when An_Integer => "Integer", when An_Enumeration => "Colour");

   --  Types ---------------------------------------------------------------------------------------------------------

   Word_Bytes : constant := 4;

   procedure Put_Types (Bytes : Positive) is
      Size : constant String := Numeral (Bytes);
   begin
      Put (1, "type Array_" & Size & " is array (1 .. " & Numeral (Bytes / Word_Bytes) & ") of Integer;");
      Put (1, "type Record_" & Size & " is record");
      Put (2, "First : Integer;");
      if Bytes > Word_Bytes then
         Put (2, "Rest  : Row (1 .. " & Numeral (Bytes / Word_Bytes - 1) & ");");
      end if;
      Put (1, "end record;");
      Put (1, "subtype String_" & Size & " is String (1 .. " & Size & ");");
      Put (1, "type Array_" & Size & "_Access is access Array_" & Size & ';');
      Put (1, "type Record_" & Size & "_Access is access Record_" & Size & ';');
      Blank;
   end Put_Types;

   procedure Write_Types is
      Unit : constant String := "Allocation_Types";
   begin
      Open_Package (Unit, Is_Body => False, Purpose => "Types of allocated objects, named by their size in bytes");
      Put (1, "type Colour is (Red, Green, Blue);");
      Put (1, "type Integer_Access is access Integer;");
      Put (1, "type Enumeration_Access is access Colour;");
      Put (1, "type String_Access is access String;");
      Put (1, "type Row is array (Positive range <>) of Integer;");
      Blank;
      for Bytes of New_Sizes loop
         Put_Types (Bytes);
      end loop;
      Close_Package (Unit);
   end Write_Types;

   --  Declarative regions: a procedure with local objects for each test ---------------------------------------------

   Locals : constant String := "Allocation_Locals";

   procedure Put_Locals_Declarations is
   begin
      Put (1, "procedure Nothing;");
      for Kind in Scalar loop
         for Count of Counts loop
            Put (1, "procedure " & Name (Kind) & "_Objects_" & Numeral (Count) & ';');
         end loop;
      end loop;
      for Kind in Composite loop
         for Bytes of Local_Sizes loop
            Put (1, "procedure " & Name (Kind) & "_Object_" & Numeral (Bytes) & ';');
         end loop;
      end loop;
      Blank;
   end Put_Locals_Declarations;

   procedure Put_Hold (Of_Type, Object : String) is
      --  An empty instruction that is said to write the object: it must then exist, in memory
   begin
      Put (2, "Asm ("""", " & Of_Type & "'Asm_Output (""=m"", " & Object & "), Volatile => True);");
   end Put_Hold;

   procedure Put_Scalar_Region (Kind : Scalar; Count : Positive) is
      Subprogram : constant String := Name (Kind) & "_Objects_" & Numeral (Count);
   begin
      Put (1, "procedure " & Subprogram & " is");
      Put_List (2, "", "V", "", " : " & Type_Text (Kind) & ';', Count);
      Put (1, "begin");
      for I in 1 .. Count loop
         Put_Hold (Type_Text (Kind), 'V' & Numeral (I));
      end loop;
      Put (1, "end " & Subprogram & ';');
      Blank;
   end Put_Scalar_Region;

   procedure Put_Composite_Region (Kind : Composite; Bytes : Positive) is
      Subprogram : constant String := Name (Kind) & "_Object_" & Numeral (Bytes);
      Its_Type   : constant String := Name (Kind) & '_' & Numeral (Bytes);
   begin
      Put (1, "procedure " & Subprogram & " is");
      Put (2, "Object : " & Its_Type & ';');
      Put (1, "begin");
      Put_Hold (Its_Type, "Object");
      Put (1, "end " & Subprogram & ';');
      Blank;
   end Put_Composite_Region;

   procedure Write_Locals is
      Purpose : constant String := "Procedures with local objects, and their null counterpart";
   begin
      Open_Package (Locals, Is_Body => False, Purpose => Purpose);
      Put_Locals_Declarations;
      Close_Package (Locals);

      Open_Package
        (Locals, Is_Body => True, Purpose => Purpose,
         Context =>
           "with Allocation_Types;    use Allocation_Types;" & ASCII.LF
           & "with System.Machine_Code; use System.Machine_Code;");
      Put (1, "procedure Nothing is");
      Put (1, "begin");
      Put (2, "null;");
      Put (1, "end Nothing;");
      Blank;
      for Kind in Scalar loop
         for Count of Counts loop
            Put_Scalar_Region (Kind, Count);
         end loop;
      end loop;
      for Kind in Composite loop
         for Bytes of Local_Sizes loop
            Put_Composite_Region (Kind, Bytes);
         end loop;
      end loop;
      Close_Package (Locals);
   end Write_Locals;

   --  Allocators ----------------------------------------------------------------------------------------------------

   Allocators : constant String := "Allocators";

   procedure Put_Allocator (Subject, Pointer, Allocator : String; In_Body : Boolean) is
      --  The function that is measured and its null counterpart
   begin
      Put
        (1, "function New_" & Subject & " return " & Pointer & (if In_Body then "" else ";"));
      if In_Body then
         Put (1, "is (" & Allocator & ");");
         Blank;
      end if;
      Put
        (1, "function No_" & Subject & " return " & Pointer & (if In_Body then "" else ";"));
      if In_Body then
         Put (1, "is (null);");
         Blank;
      end if;
   end Put_Allocator;

   function Pointer (Kind : Composite; Bytes : Positive) return String
   is (if Kind = A_String then "String_Access" else Name (Kind) & '_' & Numeral (Bytes) & "_Access");

   procedure Put_Allocators (In_Body : Boolean) is
   begin
      for Kind in Scalar loop
         Put_Allocator (Name (Kind), Name (Kind) & "_Access", "new " & Type_Text (Kind), In_Body);
      end loop;
      for Kind in Composite loop
         for Bytes of New_Sizes loop
            Put_Allocator
              (Name (Kind) & '_' & Numeral (Bytes), Pointer (Kind, Bytes),
               (if Kind = A_String then "new String (1 .. " & Numeral (Bytes) & ')'
                else "new " & Name (Kind) & '_' & Numeral (Bytes)),
               In_Body);
         end loop;
      end loop;
   end Put_Allocators;

   procedure Put_New_And_Free (Bytes : Positive) is
      Size : constant String := Numeral (Bytes);
   begin
      Put (1, "procedure Free is new Ada.Unchecked_Deallocation (Array_" & Size & ", Array_" & Size & "_Access);");
      Blank;
      Put (1, "procedure New_And_Free_" & Size & " is");
      Put (2, "Object : Array_" & Size & "_Access := new Array_" & Size & ';');
      Put (1, "begin");
      Put (2, "Free (Object);");
      Put (1, "end New_And_Free_" & Size & ';');
      Blank;
   end Put_New_And_Free;

   procedure Write_Allocators is
      Purpose : constant String := "Functions that allocate, and their null counterparts";
   begin
      Open_Package
        (Allocators, Is_Body => False, Purpose => Purpose,
         Context => "with Allocation_Types; use Allocation_Types;");
      Put_Allocators (In_Body => False);
      for Bytes of Freed_Sizes loop
         Put (1, "procedure New_And_Free_" & Numeral (Bytes) & ';');
      end loop;
      Blank;
      Close_Package (Allocators);

      Open_Package
        (Allocators, Is_Body => True, Purpose => Purpose,
         Context => "with Ada.Unchecked_Deallocation;");
      Put_Allocators (In_Body => True);
      for Bytes of Freed_Sizes loop
         Put_New_And_Free (Bytes);
      end loop;
      Close_Package (Allocators);
   end Write_Allocators;

   --  Frames and registration ---------------------------------------------------------------------------------------

   procedure Put_Entering_Test (From, Subprogram, Test_Name : String; Declaring : Boolean) is
      --  A procedure is called; its control calls the null counterpart
   begin
      if Declaring then
         Put
           (1,
            "procedure Frame_" & Subprogram & " is new Entering (" & From & '.' & Subprogram & ");");
      else
         Put
           (2,
            "Kit.Register_Frame (""" & Test_Name & """, Frame_Nothing'Access, Frame_" & Subprogram & "'Access);");
      end if;
   end Put_Entering_Test;

   procedure Put_Fixed_Tests (Declaring : Boolean) is
   begin
      for Kind in Scalar loop
         for Count of Counts loop
            Put_Entering_Test
              (Locals, Name (Kind) & "_Objects_" & Numeral (Count),
               "alloc.fixed." & Words (Kind) & '.' & Numeral (Count), Declaring);
         end loop;
      end loop;
      for Kind in Composite loop
         for Bytes of Local_Sizes loop
            Put_Entering_Test
              (Locals, Name (Kind) & "_Object_" & Numeral (Bytes),
               "alloc.fixed." & Words (Kind) & '.' & Numeral (Bytes), Declaring);
         end loop;
      end loop;
   end Put_Fixed_Tests;

   procedure Put_Freed_Tests (Declaring : Boolean) is
   begin
      for Bytes of Freed_Sizes loop
         Put_Entering_Test
           (Allocators, "New_And_Free_" & Numeral (Bytes), "alloc.new_free." & Numeral (Bytes), Declaring);
      end loop;
   end Put_Freed_Tests;

   procedure Put_New_Test (Subject, Object, Its_Pointer, Test_Name : String; Bytes : Positive; Declaring : Boolean) is
      Ring : constant String := Subject & "_Ring";
   begin
      if Declaring then
         Put (1, "package " & Ring & " is new Allocation_Rings");
         Put
           (1,
            "  (" & Object & ", " & Its_Pointer & ", " & Numeral (Bytes) & ", "
            & Allocators & ".New_" & Subject & ", " & Allocators & ".No_" & Subject & ");");
      else
         Put (2, "Kit.Register_Frame");
         Put (2, "  (""" & Test_Name & """, " & Ring & ".Control'Access, " & Ring & ".Test'Access,");
         Put (2, "   Prepare => " & Ring & ".Prepare'Access, Reset => " & Ring & ".Release'Access);");
      end if;
   end Put_New_Test;

   procedure Put_New_Tests (Declaring : Boolean) is
   begin
      Put_New_Test ("Integer", "Integer", "Integer_Access", "alloc.new.integer", Word_Bytes, Declaring);
      Put_New_Test ("Enumeration", "Colour", "Enumeration_Access", "alloc.new.enumeration", 1, Declaring);
      for Kind in Composite loop
         for Bytes of New_Sizes loop
            Put_New_Test
              (Subject     => Name (Kind) & '_' & Numeral (Bytes),
               Object      => (if Kind = A_String then "String" else Name (Kind) & '_' & Numeral (Bytes)),
               Its_Pointer => Pointer (Kind, Bytes),
               Test_Name   => "alloc.new." & Words (Kind) & '.' & Numeral (Bytes),
               Bytes       => Bytes,
               Declaring   => Declaring);
         end loop;
      end loop;
   end Put_New_Tests;

   procedure Write_Registration is
      Unit    : constant String := "Allocations_By_Size";
      Purpose : constant String := "Registers allocation tests whose objects differ in type and size";
   begin
      Open_Package (Unit, Is_Body => False, Purpose => Purpose);
      Put (1, "procedure Register_Fixed;");
      Put (1, "procedure Register_New;");
      Blank;
      Close_Package (Unit);

      Open_Package
        (Unit, Is_Body => True, Purpose => Purpose,
         Context =>
           "with Allocation_Frames; use Allocation_Frames;" & ASCII.LF
           & "with Allocation_Locals;" & ASCII.LF
           & "with Allocation_Rings;" & ASCII.LF
           & "with Allocation_Types; use Allocation_Types;" & ASCII.LF
           & "with Allocators;" & ASCII.LF
           & "with Kit;");
      Put (1, "procedure Frame_Nothing is new Entering (Allocation_Locals.Nothing);");
      Put_Fixed_Tests (Declaring => True);
      Put_New_Tests (Declaring => True);
      Put_Freed_Tests (Declaring => True);
      Blank;
      Put (1, "procedure Register_Fixed is");
      Put (1, "begin");
      Put_Fixed_Tests (Declaring => False);
      Put (1, "end Register_Fixed;");
      Blank;
      Put (1, "procedure Register_New is");
      Put (1, "begin");
      Put_New_Tests (Declaring => False);
      Put_Freed_Tests (Declaring => False);
      Put (1, "end Register_New;");
      Blank;
      Close_Package (Unit);
   end Write_Registration;

   procedure Write is
   begin
      Write_Types;
      Write_Locals;
      Write_Allocators;
      Write_Registration;
   end Write;

end Allocation_Sources;
