with Features_Rendezvous_Operands; use Features_Rendezvous_Operands;
with Features_Tally;               use Features_Tally;
with Kit;                          use Kit;

package body Features_Rendezvous_In_Out is

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
           (A0 : in out Integer)
         do
            A0 := A0 + 1;
            Served (1);
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
           (A0, A1, A2, A3, A4, A5, A6, A7, A8, A9 : in out Integer)
         do
            A0 := A0 + 1; A1 := A1 + 1; A2 := A2 + 1; A3 := A3 + 1; A4 := A4 + 1;
            A5 := A5 + 1; A6 := A6 + 1; A7 := A7 + 1; A8 := A8 + 1; A9 := A9 + 1;
            Served (1);
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
            J0, J1, J2, J3, J4, J5, J6, J7, J8, J9 : in out Integer)
         do
            A0 := A0 + 1; A1 := A1 + 1; A2 := A2 + 1; A3 := A3 + 1; A4 := A4 + 1;
            A5 := A5 + 1; A6 := A6 + 1; A7 := A7 + 1; A8 := A8 + 1; A9 := A9 + 1;
            B0 := B0 + 1; B1 := B1 + 1; B2 := B2 + 1; B3 := B3 + 1; B4 := B4 + 1;
            B5 := B5 + 1; B6 := B6 + 1; B7 := B7 + 1; B8 := B8 + 1; B9 := B9 + 1;
            C0 := C0 + 1; C1 := C1 + 1; C2 := C2 + 1; C3 := C3 + 1; C4 := C4 + 1;
            C5 := C5 + 1; C6 := C6 + 1; C7 := C7 + 1; C8 := C8 + 1; C9 := C9 + 1;
            D0 := D0 + 1; D1 := D1 + 1; D2 := D2 + 1; D3 := D3 + 1; D4 := D4 + 1;
            D5 := D5 + 1; D6 := D6 + 1; D7 := D7 + 1; D8 := D8 + 1; D9 := D9 + 1;
            E0 := E0 + 1; E1 := E1 + 1; E2 := E2 + 1; E3 := E3 + 1; E4 := E4 + 1;
            E5 := E5 + 1; E6 := E6 + 1; E7 := E7 + 1; E8 := E8 + 1; E9 := E9 + 1;
            F0 := F0 + 1; F1 := F1 + 1; F2 := F2 + 1; F3 := F3 + 1; F4 := F4 + 1;
            F5 := F5 + 1; F6 := F6 + 1; F7 := F7 + 1; F8 := F8 + 1; F9 := F9 + 1;
            G0 := G0 + 1; G1 := G1 + 1; G2 := G2 + 1; G3 := G3 + 1; G4 := G4 + 1;
            G5 := G5 + 1; G6 := G6 + 1; G7 := G7 + 1; G8 := G8 + 1; G9 := G9 + 1;
            H0 := H0 + 1; H1 := H1 + 1; H2 := H2 + 1; H3 := H3 + 1; H4 := H4 + 1;
            H5 := H5 + 1; H6 := H6 + 1; H7 := H7 + 1; H8 := H8 + 1; H9 := H9 + 1;
            I0 := I0 + 1; I1 := I1 + 1; I2 := I2 + 1; I3 := I3 + 1; I4 := I4 + 1;
            I5 := I5 + 1; I6 := I6 + 1; I7 := I7 + 1; I8 := I8 + 1; I9 := I9 + 1;
            J0 := J0 + 1; J1 := J1 + 1; J2 := J2 + 1; J3 := J3 + 1; J4 := J4 + 1;
            J5 := J5 + 1; J6 := J6 + 1; J7 := J7 + 1; J8 := J8 + 1; J9 := J9 + 1;
            Served (1);
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

end Features_Rendezvous_In_Out;
