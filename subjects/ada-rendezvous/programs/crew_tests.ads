--  A program of clients and a server that accepts, in one variant, as tests: <program>.<variant> with the program's
--  own number of clients, and <program>.<variant>.4 and so on with others. All variants of a program claim equal work

with Crew;
with Gates; use Gates;
with Kit;

generic
   Program, Variant : String;
   Own_Clients      : Client_Number;
   Rounds           : Kit.Iterations;
   --  Of each client in a run, which is one iteration: long enough that its beginning and end do not count
   with procedure Set_Up (Clients : Client_Number);
   with procedure Clear (Clients : Client_Number);
   --  At the beginning of each slice
   with procedure Play (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);
   with procedure Play_Alone (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);
package Crew_Tests is

   procedure Register;

private

   --  Access values are made here, as a generic body may not

   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum);

   Control_Frame : constant Kit.Frame := Control'Access;
   Test_Frame    : constant Kit.Frame := Test'Access;

   procedure Together (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Alone (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);

   Together_Part : constant Crew.Part := Together'Access;
   Alone_Part    : constant Crew.Part := Alone'Access;

   procedure Prepare_Own (Arg : Kit.Argument);
   procedure Prepare_4 (Arg : Kit.Argument);
   procedure Prepare_8 (Arg : Kit.Argument);
   procedure Prepare_16 (Arg : Kit.Argument);
   procedure Prepare_32 (Arg : Kit.Argument);
   procedure Finish (Arg : Kit.Argument);

   type Scaled_Test is record
      Clients : Client_Number;
      Prepare : Kit.Hook;
   end record;

   Own_Hook : constant Kit.Hook := Prepare_Own'Access;

   Scaled : constant array (1 .. 4) of Scaled_Test :=
     ((4, Prepare_4'Access), (8, Prepare_8'Access), (16, Prepare_16'Access), (32, Prepare_32'Access));

   Finish_Hook : constant Kit.Hook := Finish'Access;

end Crew_Tests;
