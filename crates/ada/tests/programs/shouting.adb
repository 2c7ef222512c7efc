--  A program in capitals stays one

WITH TEXT_IO; USE TEXT_IO;

PROCEDURE SHOUTING IS

   TASK BUFFER IS
      ENTRY PUT_ITEM (ITEM : IN CHARACTER);
      ENTRY GET_ITEM (ITEM : OUT CHARACTER);
      ENTRY STOP;
   END BUFFER;

   TASK BODY BUFFER IS
      HELD  : CHARACTER := 'x';
      FULL  : BOOLEAN := FALSE;
   BEGIN
      LOOP
         SELECT
            WHEN NOT FULL =>
               ACCEPT PUT_ITEM (ITEM : IN CHARACTER) DO
                  HELD := ITEM;   -- It's held here
               END PUT_ITEM;
               FULL := TRUE;
         OR
            WHEN FULL =>
               ACCEPT GET_ITEM (ITEM : OUT CHARACTER) DO
                  ITEM := HELD;
               END GET_ITEM;
               FULL := FALSE;
         OR
            ACCEPT STOP;
            EXIT;
         END SELECT;
         EXIT WHEN HELD = 'q';
      END LOOP;
   END BUFFER;

   C : CHARACTER;
BEGIN
   FOR I IN CHARACTER RANGE 'a' .. 'c' LOOP
      BUFFER.PUT_ITEM (I);
      BUFFER.GET_ITEM (C);
      PUT_LINE ("got " & C);
   END LOOP;
   BUFFER.STOP;
   BUFFER.PUT_ITEM ('d');
   PUT_LINE ("put into a stopped buffer");
EXCEPTION
   WHEN TASKING_ERROR =>
      PUT_LINE ("stopped");
END SHOUTING;
