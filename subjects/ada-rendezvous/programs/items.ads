--  What producers make and consumers consume

with Kit;

package Items is

   type Item is new Kit.Checksum;

   Seed : constant Item := 1;

   function Worked_On (X : Item) return Item;
   --  A quarter of a microsecond's work

   Buffer_Size : constant := 10;

end Items;
