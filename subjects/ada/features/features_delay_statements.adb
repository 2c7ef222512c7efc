with Ada.Real_Time;  use Ada.Real_Time;
with Features_Tally; use Features_Tally;

package body Features_Delay_Statements is

   use type Kit.Checksum;

   Requested      : Duration  := 0.0;
   Requested_Span : Time_Span := Time_Span_Zero;

   Deadline : Time := Time_First with Volatile;

   -------------
   -- Request --
   -------------

   procedure Request (Arg : Kit.Argument) is
      use type Kit.Argument;

      Ns_Per_Second : constant := 1_000_000_000;
      Seconds       : constant Kit.Argument := Arg / Ns_Per_Second;
      Rest          : constant Kit.Argument := Arg mod Ns_Per_Second;
   begin
      if Seconds > 3_600 then
         raise Constraint_Error with "a delay of more than an hour; give at most 3600000000000 ns";
      end if;
      Requested      := Duration (Seconds) + Duration (Rest) / Ns_Per_Second;
      Requested_Span := To_Time_Span (Requested);
   end Request;

   ---------------
   -- Delay_Not --
   ---------------

   procedure Delay_Not is
   begin
      Done := Done + 1;
   end Delay_Not;

   ----------------
   -- Delay_Zero --
   ----------------

   procedure Delay_Zero is
   begin
      delay 0.0;
      Done := Done + 1;
   end Delay_Zero;

   --------------------
   -- Delay_Relative --
   --------------------

   procedure Delay_Relative is
   begin
      delay Requested;
      Done := Done + 1;
   end Delay_Relative;

   -------------------
   -- Compute_Until --
   -------------------

   procedure Compute_Until is
   begin
      Deadline := Clock + Requested_Span;
      Done := Done + 1;
   end Compute_Until;

   -----------------
   -- Delay_Until --
   -----------------

   procedure Delay_Until is
   begin
      Deadline := Clock + Requested_Span;
      delay until Deadline;
      Done := Done + 1;
   end Delay_Until;

end Features_Delay_Statements;
