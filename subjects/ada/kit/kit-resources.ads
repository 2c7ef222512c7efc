--  What the process and the measuring thread have used so far

private package Kit.Resources is

   type Snapshot is record
      Voluntary, Involuntary     : Nanoseconds := 0;   --  context switches of the whole process
      Minor_Faults, Major_Faults : Nanoseconds := 0;
      Wait                       : Nanoseconds := 0;   --  ns ready but not running, this thread; Unknown where not told
   end record;

   Unknown : constant Nanoseconds := -1;

   procedure Take (Now_Used : out Snapshot);
   --  Called by the main thread only

   function Wait_Between (Before, After : Snapshot) return Nanoseconds
   is (if Before.Wait = Unknown then Unknown else After.Wait - Before.Wait);

   type Usage_Report is record
      User, System               : Nanoseconds;
      Peak_Rss_Bytes             : Nanoseconds;
      Minor_Faults, Major_Faults : Nanoseconds;
      Voluntary, Involuntary     : Nanoseconds;
      Threads                    : Natural;
   end record;

   function Usage return Usage_Report;

end Kit.Resources;
