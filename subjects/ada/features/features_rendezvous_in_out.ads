--  Rendezvous with 1, 10 and 100 INTEGER parameters of mode in out. The accept body increments each of its
--  parameters: a parameter is passed to be used, and each is used once.

with Ada.Task_Identification; use Ada.Task_Identification;
with Features_Partner;

package Features_Rendezvous_In_Out is

   task type Acceptor_1 is
      entry Call
        (A0 : in out Integer);
   end Acceptor_1;

   type Access_1 is access Acceptor_1;
   function Identity (Instance : Access_1) return Task_Id is (Instance.all'Identity);
   package Life_1 is new Features_Partner (Acceptor_1, Access_1, Identity);

   procedure Call_1;

   task type Acceptor_10 is
      entry Call
        (A0, A1, A2, A3, A4, A5, A6, A7, A8, A9 : in out Integer);
   end Acceptor_10;

   type Access_10 is access Acceptor_10;
   function Identity (Instance : Access_10) return Task_Id is (Instance.all'Identity);
   package Life_10 is new Features_Partner (Acceptor_10, Access_10, Identity);

   procedure Call_10;

   task type Acceptor_100 is
      entry Call
        (A0, A1, A2, A3, A4, A5, A6, A7, A8, A9,
         B0, B1, B2, B3, B4, B5, B6, B7, B8, B9,
         C0, C1, C2, C3, C4, C5, C6, C7, C8, C9,
         D0, D1, D2, D3, D4, D5, D6, D7, D8, D9,
         E0, E1, E2, E3, E4, E5, E6, E7, E8, E9,
         F0, F1, F2, F3, F4, F5, F6, F7, F8, F9,
         G0, G1, G2, G3, G4, G5, G6, G7, G8, G9,
         H0, H1, H2, H3, H4, H5, H6, H7, H8, H9,
         I0, I1, I2, I3, I4, I5, I6, I7, I8, I9,
         J0, J1, J2, J3, J4, J5, J6, J7, J8, J9 : in out Integer);
   end Acceptor_100;

   type Access_100 is access Acceptor_100;
   function Identity (Instance : Access_100) return Task_Id is (Instance.all'Identity);
   package Life_100 is new Features_Partner (Acceptor_100, Access_100, Identity);

   procedure Call_100;

end Features_Rendezvous_In_Out;
