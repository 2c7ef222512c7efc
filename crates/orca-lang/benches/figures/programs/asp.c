static void shorten(int32_t *row, const int32_t *by, int n, int k)
{
    for (int j = 0; j < n; j++) {
        int32_t through = row[k] + by[j];
        if (through < row[j])
            row[j] = through;
    }
}

int main(void)
{
    int n = size(500);
    int32_t **m = malloc(n * sizeof *m), *pivot = malloc(n * sizeof *pivot), sum = 0;
    for (int i = 0; i < n; i++) {
        m[i] = malloc(n * sizeof *m[i]);
        for (int j = 0; j < n; j++)
            m[i][j] = ((i + 1) * 7919 + (j + 1) * 104729) % 1000 + 1;
    }
    double began = now();
    for (int k = 0; k < n; k++) {
        memcpy(pivot, m[k], n * sizeof *pivot);
        for (int i = 0; i < n; i++)
            shorten(m[i], pivot, n, k);
    }
    began = now() - began;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum += m[i][j];
    printf("%d %d\n", (int)began, sum);
}
