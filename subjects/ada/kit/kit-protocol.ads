--  The subject protocol (docs/reference/subject-protocol.md, version 1) on standard input and output

package Kit.Protocol is

   procedure Serve;
   --  Answers requests until `quit` or the end of the input, then ends the program with exit code 0 (1 if nobody reads
   --  the answers any more). Does not return: a test's partner that hangs cannot keep the program alive

end Kit.Protocol;
