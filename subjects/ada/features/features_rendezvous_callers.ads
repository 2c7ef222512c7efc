--  K callers contending for one acceptor: K tasks share out a frame's calls

with Kit;

package Features_Rendezvous_Callers is

   generic
      Callers : Positive;
   package Contention is
      procedure Prepare (Arg : Kit.Argument);
      procedure Finish (Arg : Kit.Argument);
   end Contention;

   procedure Control (Count : Kit.Iterations; Sum : out Kit.Checksum);

   procedure Test (Count : Kit.Iterations; Sum : out Kit.Checksum);

end Features_Rendezvous_Callers;
