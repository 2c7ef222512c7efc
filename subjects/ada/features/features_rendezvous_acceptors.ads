--  The tasks that accept calls. Every accept body counts the call: GNAT treats `do null; end` like an accept without
--  a body under the default dispatching policy, so that an empty body would not be measured as one.

with Ada.Task_Identification; use Ada.Task_Identification;
with Features_Partner;

package Features_Rendezvous_Acceptors is

   --  accept Call do … end

   task type Simple_Acceptor is
      entry Call;
   end Simple_Acceptor;

   type Simple_Access is access Simple_Acceptor;
   function Identity (Instance : Simple_Access) return Task_Id is (Instance.all'Identity);
   package Simple is new Features_Partner (Simple_Acceptor, Simple_Access, Identity);

   --  accept Call

   task type Bodiless_Acceptor is
      entry Call;
   end Bodiless_Acceptor;

   type Bodiless_Access is access Bodiless_Acceptor;
   function Identity (Instance : Bodiless_Access) return Task_Id is (Instance.all'Identity);
   package Bodiless is new Features_Partner (Bodiless_Acceptor, Bodiless_Access, Identity);

   --  select with 2 and 10 open alternatives

   task type Select_2_Acceptor is
      entry Call_1;
      entry Call_2;
   end Select_2_Acceptor;

   type Select_2_Access is access Select_2_Acceptor;
   function Identity (Instance : Select_2_Access) return Task_Id is (Instance.all'Identity);
   package Select_2 is new Features_Partner (Select_2_Acceptor, Select_2_Access, Identity);

   task type Select_10_Acceptor is
      entry Call_1;
      entry Call_2;
      entry Call_3;
      entry Call_4;
      entry Call_5;
      entry Call_6;
      entry Call_7;
      entry Call_8;
      entry Call_9;
      entry Call_10;
   end Select_10_Acceptor;

   type Select_10_Access is access Select_10_Acceptor;
   function Identity (Instance : Select_10_Access) return Task_Id is (Instance.all'Identity);
   package Select_10 is new Features_Partner (Select_10_Acceptor, Select_10_Access, Identity);

   --  Never ready for Call: it waits for another entry, which nobody calls

   task type Busy_Acceptor is
      entry Other;
      entry Call;
   end Busy_Acceptor;

   type Busy_Access is access Busy_Acceptor;
   function Identity (Instance : Busy_Access) return Task_Id is (Instance.all'Identity);
   package Busy is new Features_Partner (Busy_Acceptor, Busy_Access, Identity);

end Features_Rendezvous_Acceptors;
