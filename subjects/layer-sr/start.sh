# Starts the subject, of which this folder has the program. Over Open MPI `mpirun` starts both virtual machines.
case $ANTIPHON_SR in
*over=mpi*)
    root=
    [ "$(id -u)" != 0 ] || root=--allow-run-as-root
    exec mpirun $root --quiet --oversubscribe --bind-to none -n 2 "$1"
    ;;
esac
exec "$1"
