--  What the suite measures in other languages and Ada does not have, so that a report says why a cell is empty

package Features_Absent is

   procedure Register;

end Features_Absent;
