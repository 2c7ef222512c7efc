with Ada.Strings.Fixed;
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

   procedure Get_Number (Text : String; From : in out Positive; Value : out Nanoseconds) is
      --  The digits at From, which is then behind them; 0 where there are none
   begin
      Value := 0;
      while From <= Text'Last and then Text (From) in '0' .. '9' loop
         Value := Value * 10 + (Character'Pos (Text (From)) - Character'Pos ('0'));
         From := From + 1;
      end loop;
   end Get_Number;

   function Waited return Nanoseconds is
      --  The second of three numbers; the first is the time on the processor. A kernel that keeps no such account has
      --  no file, or zeros in it

      Text                 : String (1 .. 80);
      Length               : constant C.long :=
        (if Schedstat < 0 then -1 else Pread (Schedstat, Text'Address, Text'Length, 0));
      Place                : Positive := 1;
      On_Processor, Waited : Nanoseconds;
   begin
      if Length <= 0 then
         return Unknown;
      end if;
      Get_Number (Text (1 .. Integer (Length)), Place, On_Processor);
      Place := Place + 1;
      Get_Number (Text (1 .. Integer (Length)), Place, Waited);
      return (if On_Processor > 0 then Waited else Unknown);
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

   function Status_Text return String is
      --  /proc/self/status; empty where the system has none

      Status : constant File := Open (C.To_C ("/proc/self/status"), Read_Only);
      Text   : String (1 .. 4_096);
      Length : C.long;
   begin
      if Status < 0 then
         return "";
      end if;
      Length := Read (Status, Text'Address, Text'Length);
      if Close (Status) /= 0 then
         null;   --  nothing was written to it
      end if;
      return Text (1 .. Integer (C.long'Max (Length, 0)));
   end Status_Text;

   function Number_After (Key, Text : String) return Nanoseconds is
      --  From a line `Key: 123`; 0 where there is none

      Place : Natural := Ada.Strings.Fixed.Index (Text, ASCII.LF & Key & ':');
      Value : Nanoseconds;
   begin
      if Place = 0 then
         return 0;
      end if;
      Place := Place + Key'Length + 2;
      while Place <= Text'Last and then Text (Place) in ' ' | ASCII.HT loop
         Place := Place + 1;
      end loop;
      Get_Number (Text, Place, Value);
      return Value;
   end Number_After;

   function Usage return Usage_Report is
      --  The peak is VmHWM: ru_maxrss would still hold the peak of the parent that this process was forked from

      Total    : constant Rusage      := Used;
      Status   : constant String      := Status_Text;
      Peak_Kib : constant Nanoseconds := Number_After ("VmHWM", Status);
   begin
      return
        (User           => To_Ns (Total.User),
         System         => To_Ns (Total.System_Time),
         Peak_Rss_Bytes => (if Peak_Kib > 0 then Peak_Kib else Nanoseconds (Total.Max_Rss)) * 1024,
         Minor_Faults   => Nanoseconds (Total.Minor_Faults),
         Major_Faults   => Nanoseconds (Total.Major_Faults),
         Voluntary      => Nanoseconds (Total.Voluntary),
         Involuntary    => Nanoseconds (Total.Involuntary),
         Threads        => Natural (Number_After ("Threads", Status)));
   end Usage;

end Kit.Resources;
