C     Fortran 77 with mpif.h: a sum by messages to rank 0, and the same
C     by a reduction.
      PROGRAM CLASSIC
      INCLUDE 'mpif.h'
      INTEGER RANK, RANKS, CODE, I, GOT, TOTAL, REDUCED
      INTEGER STATUS(MPI_STATUS_SIZE), FAULTS
      CALL MPI_INIT(CODE)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, CODE)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, RANKS, CODE)
      FAULTS = 0
      IF (RANK .EQ. 0) THEN
         TOTAL = 1
         DO 10 I = 1, RANKS - 1
            CALL MPI_RECV(GOT, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3,
     &                    MPI_COMM_WORLD, STATUS, CODE)
            IF (GOT .NE. STATUS(MPI_SOURCE) + 1) FAULTS = FAULTS + 1
            TOTAL = TOTAL + GOT
 10      CONTINUE
         IF (TOTAL .NE. RANKS * (RANKS + 1) / 2) FAULTS = FAULTS + 1
      ELSE
         CALL MPI_SEND(RANK + 1, 1, MPI_INTEGER, 0, 3,
     &                 MPI_COMM_WORLD, CODE)
      END IF
      CALL MPI_REDUCE(RANK + 1, REDUCED, 1, MPI_INTEGER, MPI_SUM, 0,
     &                MPI_COMM_WORLD, CODE)
      IF (RANK .EQ. 0) THEN
         IF (REDUCED .NE. TOTAL) FAULTS = FAULTS + 1
         WRITE (*, '(A,I0,A,I0,A,I0,A)') 'classic: ', RANKS,
     &      ' ranks, ', 2, ' checks, ', FAULTS, ' failures'
      END IF
      CALL MPI_FINALIZE(CODE)
      END
