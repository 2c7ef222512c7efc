# Sums what callgrind_annotate lists by the class of the function: code generated from SR, semaphores, the rest of the run-time system (which
# is in the executable too), and all that is in libraries.

/^ *[0-9,]+ \(.*%\)/ {
    count = $1
    gsub(",", "", count)
    if ($0 ~ /PROGRAM TOTALS/)
        next
    if ($0 !~ executable)
        library += count
    else if ($0 ~ /:p_/)
        generated += count
    else if ($0 ~ /:sr[1n]_[pv]_/)
        semaphores += count
    else
        scheduling += count
}

END {
    printf "%d %d %d %d\n", generated, semaphores, scheduling, library
}
