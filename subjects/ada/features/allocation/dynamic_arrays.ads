--  What allocates arrays bounded by variables, and null counterparts. Compiled apart from the frames

with System;

package Dynamic_Arrays is

   type Array_1 is array (Positive range <>) of Integer;
   type Array_2 is array (Positive range <>, Positive range <>) of Integer;
   type Array_3 is array (Positive range <>, Positive range <>, Positive range <>) of Integer;

   type Array_1_Access is access Array_1;
   type Array_2_Access is access Array_2;
   type Array_3_Access is access Array_3;

   Low  : Positive := 1;
   High : Positive := 1;
   --  Bounds of every dimension, set before a batch

   procedure Hold (Object : System.Address)
     with Inline_Always;
   --  An empty machine instruction that is said to use the object at this address

   procedure Nothing;
   procedure Declare_1;
   procedure Declare_2;
   procedure Declare_3;

   function New_1 return Array_1_Access;
   function New_2 return Array_2_Access;
   function New_3 return Array_3_Access;

   function No_1 return Array_1_Access;
   function No_2 return Array_2_Access;
   function No_3 return Array_3_Access;

end Dynamic_Arrays;
