--  Every program in every variant

package All_Programs is

   procedure Register;
   --  In the order of suites/rendezvous.toml

end All_Programs;
