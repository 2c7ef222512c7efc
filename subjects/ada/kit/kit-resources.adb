with Ada.Directories;
with Kit.System_Calls; use Kit.System_Calls;

package body Kit.Resources is

   use type C.int, C.long;

   function Used return Rusage is
   begin
      return Usage : Rusage do
         if Getrusage (Rusage_Self, Usage) /= 0 then
            raise Program_Error with "getrusage: " & Strerror (Errno);
         end if;
      end return;
   end Used;

   Schedstat : constant File := Open (C.To_C ("/proc/thread-self/schedstat"), Read_Only);
   --  Opened while the main thread elaborates this package, so it is the main thread's; -1 where the system has none

   function Waited return Nanoseconds is
      --  The second of the three numbers

      Text   : String (1 .. 80);
      Length : constant C.long := (if Schedstat < 0 then -1 else Pread (Schedstat, Text'Address, Text'Length, 0));
      Word   : Positive    := 1;
      Value  : Nanoseconds := 0;
   begin
      if Length <= 0 then
         return Unknown;
      end if;
      for C of Text (1 .. Integer (Length)) loop
         if C = ' ' then
            Word := Word + 1;
            exit when Word > 2;
         elsif Word = 2 and then C in '0' .. '9' then
            Value := Value * 10 + (Character'Pos (C) - Character'Pos ('0'));
         end if;
      end loop;
      return (if Word >= 2 then Value else Unknown);
   end Waited;

   procedure Take (Now_Used : out Snapshot) is
      Usage : constant Rusage := Used;
   begin
      Now_Used :=
        (Voluntary    => Nanoseconds (Usage.Voluntary),
         Involuntary  => Nanoseconds (Usage.Involuntary),
         Minor_Faults => Nanoseconds (Usage.Minor_Faults),
         Major_Faults => Nanoseconds (Usage.Major_Faults),
         Wait         => Waited);
      if Own_Switches /= null then
         Now_Used.Voluntary := Own_Switches.all;
         Now_Used.Involuntary := 0;
      end if;
   end Take;

   function To_Ns (Time : Timeval) return Nanoseconds
   is (Nanoseconds (Time.Seconds) * 1_000_000_000 + Nanoseconds (Time.Microseconds) * 1_000);

   function Thread_Count return Natural is
      Count : Natural := 0;

      procedure Count_One (Thread : Ada.Directories.Directory_Entry_Type);

      procedure Count_One (Thread : Ada.Directories.Directory_Entry_Type) is
      begin
         if Ada.Directories.Simple_Name (Thread) (1) /= '.' then
            Count := Count + 1;
         end if;
      end Count_One;

   begin
      Ada.Directories.Search ("/proc/self/task", "", Process => Count_One'Access);
      return Count;
   end Thread_Count;

   function Usage return Usage_Report is
      Total : constant Rusage := Used;
   begin
      return
        (User           => To_Ns (Total.User),
         System         => To_Ns (Total.System_Time),
         Peak_Rss_Bytes => Nanoseconds (Total.Max_Rss) * 1024,
         Minor_Faults   => Nanoseconds (Total.Minor_Faults),
         Major_Faults   => Nanoseconds (Total.Major_Faults),
         Voluntary      => Nanoseconds (Total.Voluntary),
         Involuntary    => Nanoseconds (Total.Involuntary),
         Threads        => Thread_Count);
   end Usage;

end Kit.Resources;
