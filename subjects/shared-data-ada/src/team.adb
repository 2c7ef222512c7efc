with Ada.Exceptions;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Synchronous_Barriers;
with Ada.Text_IO;
with Interfaces.C;
with GNAT.OS_Lib;

package body Team is

   use type Interfaces.C.long;
   use type Interfaces.Unsigned_64;

   procedure Draw (Mine : in out Account; Permille : out Natural) is
      use Interfaces;
      R : Unsigned_64 := Mine.Random;
   begin
      R := R xor Shift_Left (R, 13);
      R := R xor Shift_Right (R, 7);
      R := R xor Shift_Left (R, 17);
      Mine.Random := R;
      Permille := Natural (Shift_Right (Shift_Right (R, 32) * 1000, 32));
   end Draw;

   function Now_Ns return Count is
      use Ada.Real_Time;
      Seconds : Seconds_Count;
      Rest    : Time_Span;
   begin
      Split (Clock, Seconds, Rest);
      return Count (Seconds) * 1_000_000_000 + Count (Rest / Nanoseconds (1));
   end Now_Ns;

   --  The process's processor time, us, from some moment on (ISO C, 7.27.2.1; POSIX gives its unit).
   function Processor_Time_Us return Interfaces.C.long
   with Import, Convention => C, External_Name => "clock";

   procedure Run
     (Done       : in out Accounts;
      Time_Ms    : Positive;
      Work       : not null access procedure (Mine : in out Account);
      Elapsed_Ns : out Count)
   is
      use Ada.Synchronous_Barriers;

      --  Counts the tasks that wait for the start.
      protected Ready is
         procedure Arrive;
         entry Wait_For_All;
      private
         Arrived : Natural := 0;
      end Ready;

      protected body Ready is
         procedure Arrive is
         begin
            Arrived := Arrived + 1;
         end Arrive;

         entry Wait_For_All when Arrived = Done'Length is
         begin
            null;
         end Wait_For_All;
      end Ready;

      Start    : Synchronous_Barrier (Done'Length + 1);
      Notified : Boolean;
      Began_Ns : Count;
      Used_Us  : Interfaces.C.long;

      task type Worker (Index : Positive := 1);

      task body Worker is
         Notified : Boolean;
         Mine     : Account renames Done (Index);
      begin
         Ready.Arrive;
         Wait_For_Release (Start, Notified);
         Work (Mine);
      exception
         when Error : others =>
            Ada.Text_IO.Put_Line (Ada.Text_IO.Standard_Error, Ada.Exceptions.Exception_Information (Error));
            GNAT.OS_Lib.OS_Exit (1);
      end Worker;

      type Worker_Access is access Worker;

      Started : array (Done'Range) of Worker_Access;
   begin
      for I in Done'Range loop
         Done (I) :=
           (Number => I - 1, Random => 88172645463325252 + Interfaces.Unsigned_64 (I - 1) * 16#9E37_79B9_7F4A_7C15#, others => 0);
         Started (I) := new Worker (I);
      end loop;
      Ready.Wait_For_All;
      --  Before the start: after it tasks work already, while this one may have to wait for a processor.
      Began_Ns := Now_Ns;
      Used_Us := Processor_Time_Us;
      Wait_For_Release (Start, Notified);
      delay Duration (Time_Ms) / 1000;
      Elapsed_Ns := Now_Ns - Began_Ns;  --  what a task does after this is less than one look's
      Time_Is_Up := True;
      for Each of Started loop
         while not Each'Terminated loop
            delay 0.000_2;
         end loop;
      end loop;
      Ada.Text_IO.Put_Line ("@@ run cpu_ns=" & Image (Count (Processor_Time_Us - Used_Us) * 1000));
   end Run;

   function Sum_Of_Operations (Done : Accounts) return Count is
   begin
      return Sum : Count := 0 do
         for Mine of Done loop
            Sum := Sum + Mine.Operations;
         end loop;
      end return;
   end Sum_Of_Operations;

   function Sum_Of_Updates (Done : Accounts) return Count is
   begin
      return Sum : Count := 0 do
         for Mine of Done loop
            Sum := Sum + Mine.Updates;
         end loop;
      end return;
   end Sum_Of_Updates;

   function Image (Number : Count) return String is
     (Ada.Strings.Fixed.Trim (Number'Image, Ada.Strings.Left));

end Team;
