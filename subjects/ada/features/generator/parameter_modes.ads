--  The modes of parameters, as the generated sources write them

package Parameter_Modes is

   type Passing is (By_In, By_Out, By_In_Out);

   function Mode_Name (Mode : Passing) return String
   is (case Mode is when By_In => "In", when By_Out => "Out", when By_In_Out => "In_Out");
   --  As part of an identifier

   function Mode_Words (Mode : Passing) return String
   is (case Mode is when By_In => "in", when By_Out => "out", when By_In_Out => "in_out");
   --  As part of a test's name

   function Mode_Text (Mode : Passing) return String
   is (case Mode is when By_In => "in", when By_Out => "out", when By_In_Out => "in out");

end Parameter_Modes;
