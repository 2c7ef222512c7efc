--  Tasks: elaborated, activated and terminated, by the three ways in which a task comes to be, and each phase alone

package Features_Tasks is

   procedure Register;

end Features_Tasks;
