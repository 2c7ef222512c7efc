--  Client tasks live across slices: they wait at a gate, which opens for all of them when a slice begins, and report
--  there when they are done. Control and test pass the gate alike, so its cost cancels out.

with Ada.Exceptions;
with Kit;

package Gates is

   Largest : constant := 32;

   subtype Client_Number is Positive range 1 .. Largest;

   type Parity is mod 2;

   protected type Gate is

      procedure Open (Clients : Client_Number; Rounds : Kit.Iterations);

      entry Start (Parity) (Rounds : out Kit.Iterations);

      procedure Report (Sum : Kit.Checksum);

      procedure Fail (Error : Ada.Exceptions.Exception_Occurrence);

      entry Await_All (Sum : out Kit.Checksum);
      --  The sum of all reports. Raises again what a client failed with

   private
      Slice      : Parity         := 0;
      Running    : Natural        := 0;
      Its_Rounds : Kit.Iterations := 0;
      Total      : Kit.Checksum   := 0;
      Failure    : Ada.Exceptions.Exception_Occurrence;
   end Gate;

   procedure Enter
     (Entrance : in out Gate; Turn : in out Parity; Rounds : out Kit.Iterations; Role : String := "partner");
   --  Called by each client when it is ready for a slice. Turn is its own and 0 at first: slices alternate, so that a
   --  quick client does not take part twice. Reports the client's thread when threads are to report

end Gates;
