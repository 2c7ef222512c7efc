--  The paper's loop L1 around one operation. The operation stands in a package that is compiled apart, and so does
--  the one of the control frame: neither can be folded, and the calls of the two cancel out.

with Features_Tally;
with Kit;

generic
   with procedure Operate;
   with procedure Clear is Features_Tally.Clear;
   with function Total return Kit.Checksum is Features_Tally.Total;
procedure Features_Frame (Count : Kit.Iterations; Sum : out Kit.Checksum);
