--  A server that tells each of its 16 clients which part of a field is its own; they fill it. In a round each part is
--  given out once. The clients are part of the variant, because they accept. In the control a crew fills the field that
--  knows its parts

with Crew;
with Gates; use Gates;
with Kit;

generic
   Variant  : String;
   Entrance : in out Gate;
   --  Of the clients, who are there all the time and pass it in each test slice
package Calling_Server is

   procedure Register;

private

   procedure Prepare (Arg : Kit.Argument);
   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Finish (Arg : Kit.Argument);

   procedure Fill_Alone (Client : Client_Number; Rounds : Kit.Iterations; Sum : out Kit.Checksum);

   --  Access values are made here, as a generic body may not

   Prepare_Hook  : constant Kit.Hook  := Prepare'Access;
   Control_Frame : constant Kit.Frame := Control'Access;
   Test_Frame    : constant Kit.Frame := Test'Access;
   Finish_Hook   : constant Kit.Hook  := Finish'Access;
   Part_Alone    : constant Crew.Part := Fill_Alone'Access;

end Calling_Server;
