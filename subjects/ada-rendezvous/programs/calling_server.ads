--  A server that tells each of its 16 clients which part of a field is its own; they fill it. In a round each part is
--  given out once. The clients are part of the variant, because they accept

with Gates; use Gates;
with Kit;

generic
   Variant  : String;
   Entrance : in out Gate;
   --  Of the clients, who are there all the time and pass it in each slice
package Calling_Server is

   procedure Register;

private

   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum);

   Control_Frame : constant Kit.Frame := Control'Access;
   Test_Frame    : constant Kit.Frame := Test'Access;

end Calling_Server;
