--  The callees of the call tests, and their parts as source text

with Parameter_Modes; use Parameter_Modes;

package Callees is

   type Item_Type is (Of_Integer, Of_Enumeration, Of_Formal);
   --  Of_Formal: the formal type of a generic unit

   subtype Known_Type is Item_Type range Of_Integer .. Of_Enumeration;

   type Shape is (Of_Array, Of_Record, Of_Unconstrained);

   type Parameters is (Nothing, Scalars, Composite);

   type Callee (Takes : Parameters := Nothing) is record
      case Takes is
         when Nothing =>
            null;
         when Scalars | Composite =>
            Mode : Passing;
            case Takes is
               when Nothing =>
                  null;
               when Scalars =>
                  Item  : Item_Type;
                  Count : Positive;
               when Composite =>
                  Its   : Shape;
                  Bytes : Positive;
            end case;
      end case;
   end record;

   type Callee_List is array (Positive range <>) of Callee;

   function Of_Plain_Packages return Callee_List;   --  all
   function Of_Generics return Callee_List;         --  scalars of the formal type, and all composites

   function Known (Formal : Callee; Item : Known_Type) return Callee;
   --  What a callee of a generic is in the instance for Item

   function Name (Of_Callee : Callee) return String;
   --  As part of an identifier: None, Integer_In_10, Record_In_Out_64, In_10 (on the formal type)

   function Words (Of_Callee : Callee) return String;
   --  As part of a test's name: none, integer.in.10, record.in_out.64

   --  Source text -----------------------------------------------------------------------------------------------

   procedure Put_Declaration (Indent : Natural; Of_Callee : Callee);
   procedure Put_Body (Indent : Natural; Of_Callee : Callee);
   procedure Put_Call (Indent : Natural; Package_Prefix : String; Of_Callee : Callee);

   procedure Put_Control_Frame (Of_Callee : Callee);
   --  With the statements in place of the call

   procedure Put_Test_Frame (Package_Prefix : String; Of_Callee : Callee);

end Callees;
