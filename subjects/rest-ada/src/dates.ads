--  The time of day as HTTP writes it (RFC 9110, 5.6.7).

private with Ada.Calendar;

package Dates is

   subtype Text is String (1 .. 29);
   --  Such as "Sun, 06 Nov 1994 08:49:37 GMT"

   type Stamp is private;
   --  The text of a second. Each task has its own, and writes it anew in another second only: so it is shared with nobody, and no lock is needed

   function Now (Last : in out Stamp) return Text;

private

   type Stamp is record
      Second  : Ada.Calendar.Time := Ada.Calendar.Time_Of (1970, 1, 1);
      Written : Text              := (others => ' ');
   end record;

end Dates;
