with Features_Rendezvous_Acceptors; use Features_Rendezvous_Acceptors;
with Features_Tally;                use Features_Tally;

package body Features_Rendezvous_Calls is

   use type Kit.Checksum;

   Patience : constant Duration := 10.0;

   Bodiless_Calls : Kit.Checksum := 0;

   procedure Yield;

   -----------
   -- Yield --
   -----------

   procedure Yield is
   begin
      delay 0.0;
   end Yield;

   ------------------
   -- Call_Nothing --
   ------------------

   procedure Call_Nothing is
   begin
      Done := Done + 1;
   end Call_Nothing;

   -----------------
   -- Call_Simple --
   -----------------

   procedure Call_Simple is
   begin
      Simple.Instance.Call;
   end Call_Simple;

   -------------------
   -- Call_Bodiless --
   -------------------

   procedure Call_Bodiless is
   begin
      Bodiless.Instance.Call;
      Bodiless_Calls := Bodiless_Calls + 1;
   end Call_Bodiless;

   --------------------
   -- Clear_Bodiless --
   --------------------

   procedure Clear_Bodiless is
   begin
      Clear;
      Bodiless_Calls := 0;
   end Clear_Bodiless;

   --------------------
   -- Bodiless_Total --
   --------------------

   function Bodiless_Total return Kit.Checksum is
      Yields : Natural := 0;
   begin
      while Done /= Bodiless_Calls loop
         if Yields < 1_000 then
            Yields := Yields + 1;
            Yield;
         elsif Bodiless.Instance.all'Terminated then
            raise Program_Error with "the acceptor has ended before its calls";
         else
            delay 0.000_1; --  lets an acceptor of lower priority run
         end if;
      end loop;
      return Total;
   end Bodiless_Total;

   -------------------
   -- Call_Select_2 --
   -------------------

   procedure Call_Select_2 is
   begin
      Select_2.Instance.Call_2;
   end Call_Select_2;

   --------------------
   -- Call_Select_10 --
   --------------------

   procedure Call_Select_10 is
   begin
      Select_10.Instance.Call_10;
   end Call_Select_10;

   ----------------------
   -- Call_If_Accepted --
   ----------------------

   procedure Call_If_Accepted is
   begin
      loop
         select
            Simple.Instance.Call;
            exit;
         else
            Yield;
         end select;
      end loop;
   end Call_If_Accepted;

   ---------------------
   -- Call_If_Refused --
   ---------------------

   procedure Call_If_Refused is
   begin
      select
         Busy.Instance.Call;
      else
         Done := Done + 1;
      end select;
   end Call_If_Refused;

   ------------------
   -- Call_In_Time --
   ------------------

   procedure Call_In_Time is
   begin
      select
         Simple.Instance.Call;
      or
         delay Patience;
         raise Program_Error with "a timed call was not accepted in 10 s";
      end select;
   end Call_In_Time;

   -------------------
   -- Call_Too_Late --
   -------------------

   procedure Call_Too_Late is
   begin
      select
         Busy.Instance.Call;
      or
         delay No_Wait;
         Done := Done + 1;
      end select;
   end Call_Too_Late;

   ------------------------
   -- Call_Too_Late_1_US --
   ------------------------

   procedure Call_Too_Late_1_US is
   begin
      select
         Busy.Instance.Call;
      or
         delay One_Microsecond;
         Done := Done + 1;
      end select;
   end Call_Too_Late_1_US;

end Features_Rendezvous_Calls;
