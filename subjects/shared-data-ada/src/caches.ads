--  The cache: tasks look words up, and now and then one of them adds to the count of a word.

package Caches is

   --  Reads with some writes; Way is lock, rwlock, copy or weak.
   procedure Run (Way : String; Tasks : Positive; Writes_Per_Mille : Natural; Time_Ms : Positive);

   --  The last task writes, each time as soon as it may; the others read without a pause. Way is lock, rwlock or copy.
   procedure Starve (Way : String; Readers, Time_Ms : Positive);

end Caches;
