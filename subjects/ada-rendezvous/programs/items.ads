--  What producers make and consumers consume

with Kit;

package Items is

   type Item is new Kit.Checksum;

   Seed : constant Item := 1;

   function Next (After : Item) return Item
   is (After * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407);
   --  The chain of docs/subject-protocol.md

   Buffer_Size : constant := 10;

end Items;
