with Ada.Calendar.Formatting;

package body Dates is

   use Ada.Calendar;

   Days : constant array (Formatting.Day_Name) of String (1 .. 3) :=
     ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun");

   Months : constant array (Month_Number) of String (1 .. 3) :=
     ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec");

   function Written (Moment : Time) return Text;

   function Written (Moment : Time) return Text is
      Image : constant String := Formatting.Image (Moment);
      --  In UTC, such as "1994-11-06 08:49:37"
      Year  : String renames Image (1 .. 4);
      Month : constant Month_Number := Month_Number'Value (Image (6 .. 7));
      Day   : String renames Image (9 .. 10);
      Noon  : constant Time :=
        Time_Of (Year_Number'Value (Year), Month, Day_Number'Value (Day), Seconds => 43_200.0);
      --  Day_Of_Week is that of the local day: noon of the day of UTC, taken as local, is of the day that is meant
   begin
      return Days (Formatting.Day_Of_Week (Noon)) & ", " & Day & " " & Months (Month) & " " & Year & Image (11 .. 19) & " GMT";
   end Written;

   function Now (Last : in out Stamp) return Text is
      Moment : constant Time     := Clock;
      Since  : constant Duration := Moment - Last.Second;
   begin
      --  The clock may be set back, too
      if Since not in 0.0 .. 0.999_999_999 then
         Last := (Moment - Formatting.Sub_Second (Moment), Written (Moment));
      end if;
      return Last.Written;
   end Now;

end Dates;
