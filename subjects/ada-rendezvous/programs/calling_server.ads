--  A program that starts 16 clients and a server, which tells each of them which part of a field is its own; they fill
--  it and end. In the control the clients are started knowing their parts, and there is no server

with Fields;
with Kit;

generic
   Variant : String;
   with procedure Run (Written : in out Fields.Total);
   --  Returns when all clients have ended
package Calling_Server is

   procedure Register;

private

   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum);

   --  Access values are made here, as a generic body may not

   Control_Frame : constant Kit.Frame := Control'Access;
   Test_Frame    : constant Kit.Frame := Test'Access;

end Calling_Server;
