--  The tests of this program, in the order in which they were registered

with Ada.Containers.Indefinite_Vectors;

package Kit.Registry is

   type Test_Kind is (Frame_Test, Latency_Test, Series_Test);

   function Image (Kind : Test_Kind) return String
   is (case Kind is when Frame_Test => "frame", when Latency_Test => "latency", when Series_Test => "series");

   type Actions (Kind : Test_Kind) is record
      Prepare : Hook;
      Finish  : Hook;
      Threads : Positive;   --  that take part in one operation
      case Kind is
         when Frame_Test =>
            Control  : Frame;
            Test     : Frame;
            Reset    : Hook;
            Expected : Switches;
         when Latency_Test =>
            Operate  : Operation;
         when Series_Test =>
            One_Turn : Turn;
      end case;
   end record;

   type Entry_Of_Test (Kind : Test_Kind; Name_Length, Unit_Length, Work_Length, Absent_Length : Natural) is record
      Name     : String (1 .. Name_Length);
      Arg_Unit : String (1 .. Unit_Length);
      Work     : String (1 .. Work_Length);
      Absent   : String (1 .. Absent_Length);   --  why it cannot run here; empty if it can
      Action   : Actions (Kind);
   end record;

   package Entry_Vectors is new Ada.Containers.Indefinite_Vectors (Positive, Entry_Of_Test);

   Tests : Entry_Vectors.Vector;

   Misnamed : exception;
   --  A name that the protocol does not allow, or one that is taken: a fault of the program that registers

   procedure Add (Name, Arg_Unit : String; Action : Actions; Work : String := "");

   procedure Add_Absent (Name, Kind, Reason : String; Work : String := "");

   function Find (Name : String) return Natural;
   --  Index in Tests, 0 if there is none of this name

end Kit.Registry;
