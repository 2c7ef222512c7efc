with Features_Rendezvous_Operands; use Features_Rendezvous_Operands;
with Features_Tally;               use Features_Tally;
with Kit;                          use Kit;

package body Features_Rendezvous_In is

   procedure Served (Amount : Integer) with Inline;
   --  Runs inside the accept bodies, while the caller waits

   ------------
   -- Served --
   ------------

   procedure Served (Amount : Integer) is
   begin
      if Kit.Reporting then
         Kit.Thread_Reports;
      end if;
      Done := Done + Checksum (Amount);
   end Served;

   ----------------
   -- Acceptor_1 --
   ----------------

   task body Acceptor_1 is
   begin
      Kit.Thread_Begins;
      loop
         accept Call
           (A0 : in Integer)
         do
            Served (A0);
         end Call;
      end loop;
   end Acceptor_1;

   -----------------
   -- Acceptor_10 --
   -----------------

   task body Acceptor_10 is
   begin
      Kit.Thread_Begins;
      loop
         accept Call
           (A0, A1, A2, A3, A4, A5, A6, A7, A8, A9 : in Integer)
         do
            Served
              (A0 + A1 + A2 + A3 + A4 + A5 + A6 + A7 + A8 + A9);
         end Call;
      end loop;
   end Acceptor_10;

   ------------------
   -- Acceptor_100 --
   ------------------

   task body Acceptor_100 is
   begin
      Kit.Thread_Begins;
      loop
         accept Call
           (A0, A1, A2, A3, A4, A5, A6, A7, A8, A9,
            B0, B1, B2, B3, B4, B5, B6, B7, B8, B9,
            C0, C1, C2, C3, C4, C5, C6, C7, C8, C9,
            D0, D1, D2, D3, D4, D5, D6, D7, D8, D9,
            E0, E1, E2, E3, E4, E5, E6, E7, E8, E9,
            F0, F1, F2, F3, F4, F5, F6, F7, F8, F9,
            G0, G1, G2, G3, G4, G5, G6, G7, G8, G9,
            H0, H1, H2, H3, H4, H5, H6, H7, H8, H9,
            I0, I1, I2, I3, I4, I5, I6, I7, I8, I9,
            J0, J1, J2, J3, J4, J5, J6, J7, J8, J9 : in Integer)
         do
            Served
              (A0 + A1 + A2 + A3 + A4 + A5 + A6 + A7 + A8 + A9 +
               B0 + B1 + B2 + B3 + B4 + B5 + B6 + B7 + B8 + B9 +
               C0 + C1 + C2 + C3 + C4 + C5 + C6 + C7 + C8 + C9 +
               D0 + D1 + D2 + D3 + D4 + D5 + D6 + D7 + D8 + D9 +
               E0 + E1 + E2 + E3 + E4 + E5 + E6 + E7 + E8 + E9 +
               F0 + F1 + F2 + F3 + F4 + F5 + F6 + F7 + F8 + F9 +
               G0 + G1 + G2 + G3 + G4 + G5 + G6 + G7 + G8 + G9 +
               H0 + H1 + H2 + H3 + H4 + H5 + H6 + H7 + H8 + H9 +
               I0 + I1 + I2 + I3 + I4 + I5 + I6 + I7 + I8 + I9 +
               J0 + J1 + J2 + J3 + J4 + J5 + J6 + J7 + J8 + J9);
         end Call;
      end loop;
   end Acceptor_100;

   ------------
   -- Call_1 --
   ------------

   procedure Call_1 is
   begin
      Life_1.Instance.Call
        (V (1));
   end Call_1;

   -------------
   -- Call_10 --
   -------------

   procedure Call_10 is
   begin
      Life_10.Instance.Call
        (V (1), V (2), V (3), V (4), V (5), V (6), V (7), V (8), V (9), V (10));
   end Call_10;

   --------------
   -- Call_100 --
   --------------

   procedure Call_100 is
   begin
      Life_100.Instance.Call
        (V (1), V (2), V (3), V (4), V (5), V (6), V (7), V (8), V (9), V (10),
         V (11), V (12), V (13), V (14), V (15), V (16), V (17), V (18), V (19), V (20),
         V (21), V (22), V (23), V (24), V (25), V (26), V (27), V (28), V (29), V (30),
         V (31), V (32), V (33), V (34), V (35), V (36), V (37), V (38), V (39), V (40),
         V (41), V (42), V (43), V (44), V (45), V (46), V (47), V (48), V (49), V (50),
         V (51), V (52), V (53), V (54), V (55), V (56), V (57), V (58), V (59), V (60),
         V (61), V (62), V (63), V (64), V (65), V (66), V (67), V (68), V (69), V (70),
         V (71), V (72), V (73), V (74), V (75), V (76), V (77), V (78), V (79), V (80),
         V (81), V (82), V (83), V (84), V (85), V (86), V (87), V (88), V (89), V (90),
         V (91), V (92), V (93), V (94), V (95), V (96), V (97), V (98), V (99), V (100));
   end Call_100;

end Features_Rendezvous_In;
