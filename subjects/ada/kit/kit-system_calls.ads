--  Thin binding to what the kit and the tests need of Linux and its C library, for 64-bit machines. Each declaration
--  names its manual page by its external name; records have the layout of the kernel's 64-bit interfaces

with Interfaces.C;
with System;

package Kit.System_Calls is

   package C renames Interfaces.C;
   use type C.size_t;

   --  Clocks --------------------------------------------------------------------------------------------------------

   type Timespec is record
      Seconds     : C.long;
      Nanoseconds : C.long;
   end record
     with Convention => C;

   type Clock_Id is new C.int;

   Clock_Realtime         : constant Clock_Id := 0;
   Clock_Monotonic        : constant Clock_Id := 1;
   Clock_Process_Cputime  : constant Clock_Id := 2;
   Clock_Thread_Cputime   : constant Clock_Id := 3;
   Clock_Monotonic_Raw    : constant Clock_Id := 4;
   Clock_Monotonic_Coarse : constant Clock_Id := 6;

   function Clock_Gettime (Clock : Clock_Id; Time : out Timespec) return C.int
     with Import, Convention => C, External_Name => "clock_gettime";

   procedure Read_Clock (Clock : Clock_Id; Time : out Timespec)
     with Import, Convention => C, External_Name => "clock_gettime";
   --  The same, for clocks that are known to be there

   --  Scheduling of the calling thread (Thread = 0) or of another ---------------------------------------------------

   type Thread_Id is new C.int;

   Caller : constant Thread_Id := 0;

   Sched_Other : constant C.int := 0;
   Sched_Fifo  : constant C.int := 1;
   Sched_RR    : constant C.int := 2;

   type Sched_Param is record
      Priority : C.int;
   end record
     with Convention => C;

   function Sched_Getscheduler (Thread : Thread_Id) return C.int
     with Import, Convention => C, External_Name => "sched_getscheduler";

   function Sched_Getparam (Thread : Thread_Id; Param : out Sched_Param) return C.int
     with Import, Convention => C, External_Name => "sched_getparam";

   function Sched_Getcpu return C.int
     with Import, Convention => C, External_Name => "sched_getcpu";

   subtype Processor is Natural range 0 .. 1023;

   type Processor_Set is array (Processor) of Boolean
     with Pack, Size => 1024, Convention => C;
   --  cpu_set_t: bit n is processor n (little-endian machines)

   function Sched_Getaffinity (Thread : Thread_Id; Bytes : C.size_t; Set : out Processor_Set) return C.int
     with Import, Convention => C, External_Name => "sched_getaffinity";

   function Sched_Setaffinity (Thread : Thread_Id; Bytes : C.size_t; Set : Processor_Set) return C.int
     with Import, Convention => C, External_Name => "sched_setaffinity";

   Processor_Set_Bytes : constant C.size_t := Processor_Set'Size / 8;

   --  Resource use --------------------------------------------------------------------------------------------------

   type Timeval is record
      Seconds      : C.long;
      Microseconds : C.long;
   end record
     with Convention => C;

   type Rusage is record
      User, System_Time               : Timeval;
      Max_Rss                         : C.long;   --  KiB
      Ixrss, Idrss, Isrss             : C.long;   --  unused by Linux
      Minor_Faults, Major_Faults      : C.long;
      Swaps, In_Blocks, Out_Blocks    : C.long;
      Messages_Sent, Messages_Received, Signals : C.long;
      Voluntary, Involuntary          : C.long;   --  context switches
   end record
     with Convention => C, Size => 144 * 8;

   Rusage_Self : constant C.int := 0;

   function Getrusage (Who : C.int; Usage : out Rusage) return C.int
     with Import, Convention => C, External_Name => "getrusage";

   --  Files ---------------------------------------------------------------------------------------------------------

   type File is new C.int;

   Read_Only : constant C.int := 0;

   function Open (Path : C.char_array; Flags : C.int) return File
     with Import, Convention => C, External_Name => "open";

   function Read (From : File; Buffer : System.Address; Count : C.size_t) return C.long
     with Import, Convention => C, External_Name => "read";

   function Pread (From : File; Buffer : System.Address; Count : C.size_t; Offset : C.long) return C.long
     with Import, Convention => C, External_Name => "pread";

   function Close (Its_File : File) return C.int
     with Import, Convention => C, External_Name => "close";

   function Write (To : File; Buffer : System.Address; Count : C.size_t) return C.long
     with Import, Convention => C, External_Name => "write";

   function Errno return C.int
     with Import, Convention => C, External_Name => "__get_errno";
   --  GNAT's run-time system exports it; errno itself is a macro

   Interrupted : constant C.int := 4;   --  EINTR

   function Strerror (Number : C.int) return String;

end Kit.System_Calls;
