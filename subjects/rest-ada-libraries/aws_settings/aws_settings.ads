--  How AWS serves here, by itself or beneath the servlets.

with AWS.Config;

package AWS_Settings is

   procedure Set (Config : in out AWS.Config.Object; Port : Positive);
   --  To listen on this port of loopback, with the eight tasks of the article, and keeping every connection that a client keeps: as it
   --  comes, AWS closes those above four times its tasks, answered or not.

end AWS_Settings;
