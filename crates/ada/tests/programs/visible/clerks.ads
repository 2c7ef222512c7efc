with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Ada.Calendar;          use Ada.Calendar;

package Clerks is

   --  What it keeps has types that the context clauses here show.
   task Noter is
      entry Note (Line : Unbounded_String; On : Time);
      entry Last (Line : out Unbounded_String; Is_Late : out Boolean);
   end Noter;

   --  What it keeps has a type that only the body's context clauses show.
   task Meter is
      entry Add (Amount : Natural);
      entry Read (Total : out Natural);
   end Meter;

   --  What it keeps has a type that only a use clause of the body shows.
   task Sieve is
      entry Drop (Letter : Character; Is_New : out Boolean);
   end Sieve;

end Clerks;
