--  How many operations were truly done, counted by the task that did them: the checksum of the tests of tasks.
--  Control frames count too, so that control and test differ by the feature alone.

with Kit;

package Features_Tally is

   Done : Kit.Checksum := 0 with Volatile;
   --  Changed by one task at a time: the caller, an accept statement that the caller waits for, or a protected
   --  action

   procedure Clear;

   function Total return Kit.Checksum;

end Features_Tally;
